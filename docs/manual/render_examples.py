"""Pictures of Add > Sinew Examples: for the manual each is baked and rendered at a telling frame, and the README begins
with a film of three.

``build_addon.py manual`` runs it; ``python render_examples.py FOLDER [NAME ...]`` makes some of them, ``film`` among.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import bpy
from mathutils import Vector

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import build_addon

FPS = 24


STILL, FRAME = (960, 720), (640, 480)
"""Pixels of a picture, and of the film, which has some hundred of them."""
BACKGROUND = (0.045, 0.055, 0.07)


class Shot(NamedTuple):
    """View of an example.

    ``camera``, ``look_at``: positions, m. ``seconds``: time of the still, from the first frame. ``filmed``: first and
    last second in the film. ``without``: name of an object to hide, since it covers the deformed part, or "".
    """

    camera: tuple[float, float, float]
    look_at: tuple[float, float, float]
    seconds: float
    filmed: tuple[float, float] | None = None
    without: str = ""


SHOTS = {
    "jelly_bear": Shot((0.28, -1.05, 0.42), (0.0, 0.0, 0.14), 0.21, (0.0, 1.4)),
    "jelly_plate": Shot((0.1, -0.62, 0.30), (0.0, 0.0, 0.045), 0.8),
    "armoured_creature": Shot((0.6, -2.2, 0.95), (0.0, 0.0, 0.15), 0.3, (0.0, 1.4)),
    "armature_flesh": Shot((0.8, -3.0, 1.0), (0.0, 0.0, 0.55), 1.2),
    "side_by_side": Shot((0.9, -1.6, 0.6), (0.0, 0.0, 0.33), 0.6, (0.0, 1.4)),
    "pile_of_jellies": Shot((0.25, -1.3, 0.6), (0.0, 0.0, 0.1), 1.2),
    "squeezed_ball": Shot((0.35, -1.15, 0.4), (0.0, 0.0, 0.12), 1.0),
    "closing_lips": Shot((0.37, -1.08, 0.42), (0.0, 0.0, 0.26), 1.0),
    "squeezing_hand": Shot((-0.1, -0.75, 0.7), (0.02, 0.0, 0.14), 1.1),
    "coiling_snake": Shot((0.25, -0.95, 0.8), (0.0, 0.0, 0.14), 2.2),
    "turning_drum": Shot((0.45, -1.6, 0.75), (0.07, 0.0, 0.24), 1.4),
    "curling_arm": Shot((1.1, -0.75, 0.28), (0.0, -0.12, 0.08), 1.5),
    "crawling_worm": Shot((0.35, -1.15, 0.5), (0.0, 0.0, 0.05), 2.6),
    "beating_heart": Shot((0.25, -0.75, 0.15), (0.0, 0.0, 0.02), 1.15),
    "six_muscle_face": Shot((0.15, -0.70, 0.26), (0.0, 0.0, 0.193), 0.75),
    "tumbling_ragdoll": Shot((2.6, -2.3, 1.5), (0.0, -0.65, 0.45), 0.65),
    "cut_jelly": Shot((0.12, -0.60, 0.26), (0.0, 0.0, 0.045), 1.6),
    "torn_bread": Shot((0.12, -0.75, 0.38), (0.0, 0.0, 0.11), 1.05),
    "hydrostatic_tongue": Shot((0.22, -0.43, 0.19), (0.0, -0.005, 0.092), 0.85),
    "sliding_skin": Shot((1.1, -0.75, 0.28), (0.0, -0.12, 0.08), 1.5),
    "balloon_animal": Shot((0.5, -1.1, 0.5), (0.05, 0.0, 0.19), 1.6),
    "clay_car": Shot((0.55, -1.0, 0.55), (0.0, 0.0, 0.1), 1.6),
}
CLOSE_UPS = {
    "attributes": ("squeezed_ball", Shot((-0.5, -0.58, 0.3), (0.0, 0.0, 0.155), 1.0, without="Left Jaw")),
}
"""Further pictures of examples, by their own name."""
FILM = "film"
QUALITY = 92, 70
"""Quality of the JPEGs and of the film's WebP, per cent."""


def main(folder: Path, names: list[str]) -> None:
    """Make those pictures, or all: ``example-NAME.jpg``, those of ``CLOSE_UPS``, and ``film.webp``."""
    register()
    names = names or [*SHOTS, *CLOSE_UPS, FILM]
    with tempfile.TemporaryDirectory() as scratch:
        frames: list[Path] = []
        for name, shot in SHOTS.items():
            is_filmed = FILM in names and shot.filmed is not None
            near = {close: each for close, (example, each) in CLOSE_UPS.items() if example == name and close in names}
            if name not in names and not is_filmed and not near:
                continue
            first = bake(name, Path(scratch), max(shot.seconds, shot.filmed[1] if is_filmed else 0.0))
            light(bpy.context.scene, shot)
            if name in names:
                bpy.context.scene.frame_set(first + round(FPS * shot.seconds))
                picture = render_still(Path(scratch) / f"{name}.png")
                save_still(picture, folder / f"example-{name.replace('_', '-')}.jpg")
            for close, each in near.items():
                bpy.context.scene.frame_set(first + round(FPS * each.seconds))
                bpy.data.objects[each.without].hide_render = True
                aim(bpy.context.scene.camera, each)
                save_still(render_still(Path(scratch) / f"{close}.png"), folder / f"{close}.jpg")
            for frame in range(*(round(FPS * at) for at in shot.filmed)) if is_filmed else ():
                bpy.context.scene.frame_set(first + frame)
                frames.append(render_frame(Path(scratch) / f"{name}-{frame:03}.png"))
        if frames:
            save_film(frames, folder / f"{FILM}.webp")


def register() -> None:
    """Register the add-on of this checkout."""
    build_addon.mount()
    from sinew.blender_addon import registration

    if not registration.is_registered():
        registration.register()


def bake(name: str, scratch: Path, seconds: float | None = None) -> int:
    """Add an example to an empty file, bake so much of it or all, and return its first frame."""
    from sinew.blender_addon.objects.contact_groups import group_of

    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.context.scene.render.fps = FPS
    bpy.ops.sinew.add_example(example=name)
    body = bpy.context.object
    bpy.ops.wm.save_as_mainfile(filepath=str(scratch / f"{name.replace('_', '-')}.blend"))
    for each in group_of(body, bpy.context) if seconds is not None else ():
        each.sinew.frame_end = each.sinew.frame_start + round(seconds * FPS)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = body.sinew.frame_start, body.sinew.frame_end
    bpy.ops.sinew.bake()
    print(name, body.sinew.bake.mesh_summary, body.sinew.bake.report.splitlines()[0], flush=True)
    return scene.frame_start


def light(scene: Any, shot: Shot) -> None:
    """A camera, a warm lamp from the left, a cool one from behind, little light from all around, a dark background."""
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    aim(camera, shot)
    scene.collection.objects.link(camera)
    scene.camera = camera
    away = (Vector(shot.camera) - Vector(shot.look_at)).length
    for place, power, size, colour in (
        ((-0.8, -0.7, 1.0), 18.0, 0.6, (1.0, 0.92, 0.82)),
        ((0.7, 0.9, 0.8), 22.0, 0.4, (0.75, 0.87, 1.0)),
    ):
        lamp = bpy.data.objects.new("Lamp", bpy.data.lights.new("Lamp", "AREA"))
        lamp.location = Vector(shot.look_at) + away * Vector(place)
        lamp.rotation_euler = (Vector(shot.look_at) - lamp.location).to_track_quat("-Z", "Y").to_euler()
        lamp.data.energy, lamp.data.size, lamp.data.color = power * away**2, size * away, colour
        scene.collection.objects.link(lamp)
    scene.world = bpy.data.worlds.new("World")
    scene.world.use_nodes = True
    nodes, links = scene.world.node_tree.nodes, scene.world.node_tree.links
    seen, mix = nodes.new("ShaderNodeLightPath"), nodes.new("ShaderNodeMix")
    mix.data_type = "RGBA"
    mix.inputs["A"].default_value, mix.inputs["B"].default_value = (0.20, 0.22, 0.26, 1.0), (*BACKGROUND, 1.0)
    links.new(seen.outputs["Is Camera Ray"], mix.inputs["Factor"])
    links.new(mix.outputs["Result"], nodes["Background"].inputs["Color"])


def aim(camera: Any, shot: Shot) -> None:
    """Place the camera of a shot."""
    camera.location, camera.data.lens = shot.camera, 58
    camera.rotation_euler = (Vector(shot.look_at) - camera.location).to_track_quat("-Z", "Y").to_euler()


def render_still(path: Path) -> Path:
    """The scene as it is, by Cycles."""
    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    scene.cycles.samples, scene.cycles.use_denoising, scene.cycles.max_bounces = 32, True, 4
    scene.cycles.adaptive_threshold = 0.05  # what is left of noise is smooth after denoising
    scene.view_settings.view_transform, scene.view_settings.look = "AgX", "AgX - Medium High Contrast"
    return _render(scene, STILL, path)


def render_frame(path: Path, size: tuple[int, int] = FRAME) -> Path:
    """The scene as it is, by Workbench: a fifth of Cycles' time, of a hundred frames."""
    scene = bpy.context.scene
    scene.render.engine, scene.display.render_aa = "BLENDER_WORKBENCH", "8"
    shading = scene.display.shading
    shading.light, shading.color_type = "STUDIO", "MATERIAL"
    shading.show_shadows = shading.show_cavity = shading.show_specular_highlight = True
    shading.shadow_intensity, scene.display.light_direction = 0.4, (-0.5, 0.75, 0.4)  # to the right, up, to the viewer
    scene.world.color = BACKGROUND
    scene.view_settings.view_transform, scene.view_settings.exposure = "Standard", 1.0
    return _render(scene, size, path)


def _render(scene: Any, size: tuple[int, int], path: Path) -> Path:
    scene.render.resolution_x, scene.render.resolution_y = size
    scene.render.filepath = str(path)
    bpy.ops.render.render(write_still=True)
    return path


def save_still(picture: Path, path: Path) -> None:
    """All its colours, few bytes."""
    from PIL import Image

    Image.open(picture).convert("RGB").save(path, quality=QUALITY[0], subsampling=0, optimize=True)


def save_film(frames: list[Path], path: Path) -> None:
    """All frames, again and again."""
    from PIL import Image

    pictures = [Image.open(frame).convert("RGB") for frame in frames]
    pictures[0].save(
        path, save_all=True, append_images=pictures[1:], duration=1000 // FPS, loop=0, quality=QUALITY[1], method=6
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), sys.argv[2:])
