"""Pictures of the extension's page: baked examples on a studio ground in soft light, and the icon.

``build_addon.py listing`` runs it; ``python docs/listing/render.py FOLDER [NAME ...]`` makes some of them.
"""

from __future__ import annotations

import importlib.util
import math
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import bpy
from mathutils import Vector

MANUAL = Path(__file__).resolve().parents[1] / "manual" / "render_examples.py"
_spec = importlib.util.spec_from_file_location("render_examples", MANUAL)
manual = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(manual)

SIZES = {"featured": (1920, 1080), "icon": (256, 256)}
"""Pixels of the pictures; :data:`PREVIEW` of the others."""
PREVIEW = (1280, 720)
SAMPLES = 12
"""Samples a pixel. Denoising makes up for the rest, since all light is soft."""
QUALITY = 90
"""Quality of the JPEGs, per cent."""
LIGHTS = (
    ((-1.1, -0.9, 1.5), 20.0, 1.6, (1.0, 0.95, 0.88)),
    ((1.4, -0.4, 0.9), 9.0, 1.8, (0.86, 0.93, 1.0)),
    ((0.5, 1.2, 1.3), 30.0, 1.0, (1.0, 0.97, 0.94)),
)
"""Place around the subject, power, size and colour of the lamps, for a camera at the distance 1."""


class Picture(NamedTuple):
    """Example, camera and point that it looks at, m; seconds after the first frame; colour of the ground."""

    example: str
    camera: tuple[float, float, float]
    look_at: tuple[float, float, float]
    seconds: float
    ground: tuple[float, float, float]


PICTURES = {
    "featured": Picture("hydrostatic_tongue", (0.16, -0.50, 0.16), (-0.03, 0.0, 0.085), 0.85, (0.80, 0.62, 0.30)),
    "preview-1-jelly-bear": Picture("jelly_bear", (0.21, -0.80, 0.30), (0.0, 0.0, 0.13), 0.21, (0.62, 0.72, 0.74)),
    "preview-2-armoured-creature": Picture(
        "armoured_creature", (0.5, -1.7, 0.75), (0.0, 0.0, 0.13), 0.3, (0.74, 0.66, 0.56)
    ),
    "preview-3-six-muscles": Picture(
        "six_muscle_face", (0.16, -0.70, 0.26), (0.0, 0.0, 0.20), 0.75, (0.50, 0.60, 0.62)
    ),
    "preview-4-squeezing-hand": Picture(
        "squeezing_hand", (-0.1, -0.66, 0.52), (0.0, 0.0, 0.12), 1.1, (0.70, 0.66, 0.60)
    ),
    "preview-5-jelly-plate": Picture("jelly_plate", (0.1, -0.52, 0.24), (0.0, 0.0, 0.045), 0.8, (0.50, 0.62, 0.66)),
    "preview-6-side-by-side": Picture("side_by_side", (0.6, -1.35, 0.5), (0.0, 0.0, 0.33), 0.6, (0.66, 0.68, 0.72)),
    "icon": Picture("jelly_bear", (0.08, -0.56, 0.33), (0.0, -0.01, 0.235), 0.0, (0.6, 0.7, 0.7)),
}


def main(folder: Path, names: list[str]) -> None:
    """Make those pictures, or all: JPEGs, and ``icon.png`` with a transparent background."""
    manual.register()
    with tempfile.TemporaryDirectory() as scratch:
        for name in names or PICTURES:
            picture = PICTURES[name]
            first = manual.bake(picture.example, Path(scratch), max(picture.seconds, 1.0 / manual.FPS))
            bpy.context.scene.frame_set(first + round(manual.FPS * picture.seconds))
            is_icon = name == "icon"
            studio(bpy.context.scene, picture, with_ground=not is_icon)
            path = render(Path(scratch) / f"{name}.png", SIZES.get(name, PREVIEW))
            save(path, folder / (f"{name}.png" if is_icon else f"{name}.jpg"))


def studio(scene: Any, picture: Picture, with_ground: bool) -> None:
    """Add camera, soft lamps and a ground that bends up into the background; make jelly scatter light."""
    eye, target = Vector(picture.camera), Vector(picture.look_at)
    distance = (eye - target).length
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.location, camera.data.lens = eye, 43
    camera.rotation_euler = (target - eye).to_track_quat("-Z", "Y").to_euler()
    scene.collection.objects.link(camera)
    scene.camera = camera
    for place, power, size, colour in LIGHTS:
        lamp = bpy.data.objects.new("Lamp", bpy.data.lights.new("Lamp", "AREA"))
        lamp.location = target + distance * Vector(place)
        lamp.rotation_euler = (target - lamp.location).to_track_quat("-Z", "Y").to_euler()
        lamp.data.energy, lamp.data.size, lamp.data.color = power * distance**2, size * distance, colour
        scene.collection.objects.link(lamp)
    scene.world = bpy.data.worlds.new("World")
    scene.world.use_nodes = True
    light = scene.world.node_tree.nodes["Background"].inputs
    light["Color"].default_value, light["Strength"].default_value = (0.9, 0.95, 1.0, 1.0), 0.35
    shown = [obj for obj in scene.objects if obj.type == "MESH" and not obj.hide_render]
    floors = [obj for obj in shown if obj.name.startswith("Floor")]
    for floor in floors:
        floor.hide_render = True
    for obj in shown:
        refine(obj)
    scene.render.film_transparent = not with_ground
    if with_ground:
        add_ground(scene, lowest(floors or shown, top=bool(floors)), distance, picture.ground)


def refine(obj: Any) -> None:
    """Smooth a mesh for the render, and replace clear materials, whose refraction shows each face, by scattering."""
    for material in obj.data.materials:
        surface = next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED").inputs
        if surface["Transmission Weight"].default_value > 0.0:
            red, green, blue = surface["Base Color"].default_value[:3]
            surface["Transmission Weight"].default_value = 0.0
            surface["Subsurface Weight"].default_value = 1.0
            surface["Subsurface Radius"].default_value = (0.3 + red, 0.3 + green, 0.3 + blue)
            surface["Subsurface Scale"].default_value = 0.03
            surface["Coat Weight"].default_value = 0.6
    if any(face.use_smooth for face in obj.data.polygons):
        smooth = obj.modifiers.new("Smooth", "SUBSURF")
        smooth.levels = smooth.render_levels = 1


def lowest(objects: list[Any], top: bool) -> float:
    """Return the height of the lowest point of the objects, or of their highest point if ``top``, m."""
    graph = bpy.context.evaluated_depsgraph_get()
    heights = []
    for obj in objects:
        evaluated = obj.evaluated_get(graph)
        heights += [(evaluated.matrix_world @ Vector(corner)).z for corner in evaluated.bound_box]
    return max(heights) if top else min(heights)


def add_ground(scene: Any, height: float, distance: float, colour: tuple[float, float, float]) -> None:
    """Add a ground at a height, m, that bends up behind the subject. Its size follows the distance of the camera."""
    radius, back, bends = 1.5 * distance, 2.0 * distance, 24
    arc = [math.pi / 2 * k / bends for k in range(bends + 1)]
    profile = [(-4.0 * distance, 0.0), *((back + radius * math.sin(a), radius * (1.0 - math.cos(a))) for a in arc)]
    profile.append((back + radius, 6.0 * distance))
    half = 8.0 * distance
    corners = [(side * half, y, z + height) for y, z in profile for side in (-1.0, 1.0)]
    faces = [(2 * k, 2 * k + 1, 2 * k + 3, 2 * k + 2) for k in range(len(profile) - 1)]
    mesh = bpy.data.meshes.new("Ground")
    mesh.from_pydata(corners, [], faces)
    mesh.polygons.foreach_set("use_smooth", [True] * len(faces))
    material = bpy.data.materials.new("Ground")
    material.use_nodes = True
    surface = next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED").inputs
    surface["Base Color"].default_value, surface["Roughness"].default_value = (*colour, 1.0), 0.55
    mesh.materials.append(material)
    scene.collection.objects.link(bpy.data.objects.new("Ground", mesh))


def render(path: Path, size: tuple[int, int]) -> Path:
    """Render the scene by Cycles, with denoising."""
    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    scene.cycles.samples, scene.cycles.use_denoising, scene.cycles.max_bounces = SAMPLES, True, 6
    scene.cycles.adaptive_threshold = 0.03
    scene.view_settings.view_transform, scene.view_settings.look = "AgX", "AgX - Medium High Contrast"
    scene.render.resolution_x, scene.render.resolution_y = size
    scene.render.dither_intensity = 1.0  # against bands in even gradients
    scene.render.filepath = str(path)
    bpy.ops.render.render(write_still=True)
    return path


def save(picture: Path, path: Path) -> None:
    """Save a picture as ``path``, a JPEG or a PNG with transparency."""
    from PIL import Image

    image = Image.open(picture)
    if path.suffix == ".png":
        image.save(path, optimize=True)
    else:
        image.convert("RGB").save(path, quality=QUALITY, subsampling=0, optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), sys.argv[2:])
