"""Pictures of Add > Sinew Examples for the manual: each is baked and rendered at a telling frame.

``build_addon.py manual`` runs it; ``python render_examples.py FOLDER [NAME ...]`` makes some of them.
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

WIDTH, HEIGHT, SAMPLES = 480, 360, 48


class Shot(NamedTuple):
    """Camera and what it looks at, m; seconds after the first frame."""

    camera: tuple[float, float, float]
    look_at: tuple[float, float, float]
    seconds: float


SHOTS = {
    "jelly_bear": Shot((0.28, -1.05, 0.42), (0.0, 0.0, 0.14), 0.21),
    "jelly_plate": Shot((0.1, -0.62, 0.30), (0.0, 0.0, 0.045), 0.8),
    "armoured_creature": Shot((0.6, -2.2, 0.95), (0.0, 0.0, 0.15), 0.3),
    "armature_flesh": Shot((0.8, -3.0, 1.0), (0.0, 0.0, 0.55), 1.2),
    "side_by_side": Shot((0.9, -1.6, 0.6), (0.0, 0.0, 0.33), 0.6),
}


def main(folder: Path, names: list[str]) -> None:
    """Render the examples of those names, or all."""
    build_addon.mount()
    from sinew.blender_addon import registration

    if not registration.is_registered():
        registration.register()
    for name in names or SHOTS:
        with tempfile.TemporaryDirectory() as scratch:
            bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
            bpy.ops.sinew.add_example(example=name)
            body = bpy.context.object
            bpy.ops.wm.save_as_mainfile(filepath=str(Path(scratch) / f"{name}.blend"))
            shot = SHOTS[name]
            last = body.sinew.frame_start + round(shot.seconds * bpy.context.scene.render.fps)
            body.sinew.frame_end = last
            bpy.ops.sinew.bake()
            print(name, body.sinew.bake.mesh_summary, body.sinew.bake.report.splitlines()[0])
            bpy.context.scene.frame_set(last)
            light(bpy.context.scene, shot)
            render(bpy.context.scene, folder / f"example-{name.replace('_', '-')}.png")


def light(scene: Any, shot: Shot) -> None:
    """A camera, a large lamp, a grey world."""
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.location, camera.data.lens = shot.camera, 58
    camera.rotation_euler = (Vector(shot.look_at) - camera.location).to_track_quat("-Z", "Y").to_euler()
    lamp = bpy.data.objects.new("Lamp", bpy.data.lights.new("Lamp", "AREA"))
    away = Vector(shot.camera).length
    lamp.location = Vector((-0.7, -0.6, 1.0)) * away
    lamp.rotation_euler = (-lamp.location).to_track_quat("-Z", "Y").to_euler()
    lamp.data.energy, lamp.data.size = 14.0 * away**2, 0.7 * away
    for obj in (camera, lamp):
        scene.collection.objects.link(obj)
    scene.camera = camera
    scene.world = bpy.data.worlds.new("World")
    scene.world.use_nodes = True
    scene.world.node_tree.nodes["Background"].inputs["Color"].default_value = (0.30, 0.33, 0.37, 1.0)


def render(scene: Any, path: Path) -> None:
    """By Cycles, with 256 colors: small enough to be checked in."""
    from PIL import Image

    scene.render.engine = "CYCLES"
    scene.cycles.samples, scene.cycles.use_denoising = SAMPLES, True
    scene.view_settings.view_transform = "Standard"
    scene.render.resolution_x, scene.render.resolution_y = WIDTH, HEIGHT
    scene.render.filepath = str(path)
    bpy.ops.render.render(write_still=True)
    Image.open(path).convert("RGB").quantize(256, dither=Image.Dither.FLOYDSTEINBERG).save(path, optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), sys.argv[2:])
