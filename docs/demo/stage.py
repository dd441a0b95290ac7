"""Stage of the demos: an empty scene with the extension, reading a mesh, light and camera, rendering to a GIF and a
contact sheet.
"""

from __future__ import annotations

import os
from pathlib import Path

import bpy
import numpy as np
from mathutils import Vector

WIDTH, HEIGHT = 640, 480


def begin(frames: int) -> tuple[bpy.types.Scene, str]:
    """An empty scene of so many frames, 24 a second, with the extension switched on; the extension's package too."""
    package = os.environ.get("SINEW_PACKAGE", "bl_ext.user_default.sinew")
    if package not in bpy.context.preferences.addons:
        bpy.ops.preferences.addon_enable(module=package)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=False)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, frames
    scene.render.fps = 24
    return scene, package


def vertex_positions(obj: bpy.types.Object) -> np.ndarray:
    """Object coordinates, (n,3)."""
    flat = np.empty(3 * len(obj.data.vertices), dtype=np.float32)
    obj.data.vertices.foreach_get("co", flat)
    return flat.reshape(-1, 3).astype(float)


def add_group(obj: bpy.types.Object, name: str, chosen: np.ndarray) -> str:
    """A vertex group with full weights; its name."""
    group = obj.vertex_groups.get(name) or obj.vertex_groups.new(name=name)
    group.add(np.flatnonzero(chosen).tolist(), 1.0, "REPLACE")
    return group.name


def light_and_camera(scene: bpy.types.Scene, camera_at: tuple[float, ...], look_at: tuple[float, ...]) -> None:
    """Workbench with studio light and the materials' colours: fast on any machine, with or without a GPU."""
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.location = camera_at
    camera.rotation_euler = (Vector(look_at) - camera.location).to_track_quat("-Z", "Y").to_euler()
    camera.data.lens = 62
    scene.collection.objects.link(camera)
    scene.camera = camera
    scene.render.engine = "BLENDER_WORKBENCH"
    shading = scene.display.shading
    shading.light, shading.color_type = "STUDIO", "VERTEX"
    shading.show_shadows = shading.show_cavity = True
    shading.shadow_intensity = 0.4
    scene.world = bpy.data.worlds.new("World")
    scene.world.color = (0.035, 0.04, 0.05)
    scene.display.render_aa = "5"
    scene.render.resolution_x, scene.render.resolution_y = WIDTH, HEIGHT
    scene.render.film_transparent = False


def render(scene: bpy.types.Scene, folder: Path, name: str) -> None:
    """All frames, a GIF of that name and a contact sheet."""
    from PIL import Image

    frames = folder / "frames"
    frames.mkdir(exist_ok=True)
    pictures = []
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        scene.render.filepath = str(frames / f"{frame:04d}.png")
        bpy.ops.render.render(write_still=True)
        pictures.append(Image.open(scene.render.filepath).convert("RGB"))
    pictures[0].save(
        folder / f"{name}.gif", save_all=True, append_images=pictures[1:], duration=1000 // scene.render.fps, loop=0
    )
    chosen = pictures[:: max(1, len(pictures) // 12)][:12]
    sheet = Image.new("RGB", (4 * WIDTH // 2, 3 * HEIGHT // 2))
    for k, picture in enumerate(chosen):
        sheet.paste(picture.resize((WIDTH // 2, HEIGHT // 2)), ((k % 4) * WIDTH // 2, (k // 4) * HEIGHT // 2))
    sheet.save(folder / "contact_sheet.png")
