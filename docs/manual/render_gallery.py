"""Clips and baked .blend files of Add > Sinew Examples for the gallery of the site.

``build_addon.py gallery`` runs it; ``python render_gallery.py FOLDER [NAME ...]`` makes some of them.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import bpy
import render_examples as manual
from mathutils import Vector
from PIL import Image

SIZE = (480, 360)
STEP = 2
"""Frames of the scene for one frame of a clip: 12 frames a second."""
LONGEST = 48
"""Largest number of frames of a clip: 4 s."""
DISSOLVE = 4
"""Frames in which the end of a clip dissolves into its beginning, so that it loops without a jump."""
TRAVELLING = ("jelly_bear", "tumbling_ragdoll")
"""Examples whose bodies leave the picture of the manual."""
MARGIN = 0.1
"""Distance by which the camera moves back from such bodies, as a part of its own."""
QUALITY = 60
"""Quality of the WebP, per cent."""
LARGEST = {".webp": 250_000, ".blend": 20_000_000}
"""Bytes of a clip and of a .blend file. Most are far smaller, and the site has 0.2 GB for them."""


def main(folder: Path, names: list[str]) -> None:
    """Make ``NAME.webp`` and ``NAME.blend`` of those examples, or of all."""
    manual.register()
    for name in names or manual.SHOTS:
        with tempfile.TemporaryDirectory() as scratch:
            first = manual.bake(name, Path(scratch))
            scene = bpy.context.scene
            manual.light(scene, manual.SHOTS[name])
            shown = range(first, scene.frame_end + 1, STEP)[:LONGEST]
            if name in TRAVELLING:
                fit_camera(scene, shown)
            target = folder / name.replace("_", "-")
            save_blend(scene, target.with_suffix(".blend"))
            frames = []
            for frame in shown:
                scene.frame_set(frame)
                frames.append(manual.render_frame(Path(scratch) / f"{frame:04}.png", SIZE))
            save_clip(frames, target.with_suffix(".webp"))


def fit_camera(scene: Any, frames: range) -> None:
    """Move the camera to where it sees the bodies in all frames."""
    scene.render.resolution_x, scene.render.resolution_y = SIZE
    corners = [corner for frame in frames for corner in corners_of_bodies(scene, frame)]
    graph = bpy.context.evaluated_depsgraph_get()
    location, _ = scene.camera.camera_fit_coords(graph, [value for corner in corners for value in corner])
    scene.camera.location = location + MARGIN * (location - sum(corners, Vector()) / len(corners))


def corners_of_bodies(scene: Any, frame: int) -> list[Vector]:
    """Return the corners of the boxes around the visible objects with shape keys at a frame, m."""
    scene.frame_set(frame)
    graph = bpy.context.evaluated_depsgraph_get()
    shown = [obj for obj in scene.objects if obj.type == "MESH" and obj.data.shape_keys and not obj.hide_render]
    bodies = [obj.evaluated_get(graph) for obj in shown]
    return [body.matrix_world @ Vector(corner) for body in bodies for corner in body.bound_box]


def save_blend(scene: Any, path: Path) -> None:
    """Save the baked scene as it opens for a user: at the first frame, seen through the camera, with materials."""
    scene.frame_set(scene.frame_start)
    for area in (area for screen in bpy.data.screens for area in screen.areas if area.type == "VIEW_3D"):
        area.spaces[0].region_3d.view_perspective = "CAMERA"
        area.spaces[0].shading.type = "MATERIAL"
    bpy.context.preferences.filepaths.save_version = 0  # no .blend1 beside it
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=True, copy=True, relative_remap=False)
    check_size(path)


def save_clip(frames: list[Path], path: Path) -> None:
    """Save the frames as an animated WebP that repeats."""
    pictures = [Image.open(frame).convert("RGB") for frame in frames]
    for k in range(DISSOLVE):
        last = pictures[k - DISSOLVE]
        pictures[k - DISSOLVE] = Image.blend(last, pictures[0], (k + 1) / (DISSOLVE + 1))
    duration = 1000 * STEP // manual.FPS
    pictures[0].save(
        path, save_all=True, append_images=pictures[1:], duration=duration, loop=0, quality=QUALITY, method=6
    )
    check_size(path)


def check_size(path: Path) -> None:
    """Print the size of a file; end with an error if it is too large for the site."""
    size = path.stat().st_size
    print(f"{path.name}: {size / 1e3:.0f} kB", flush=True)
    if size > LARGEST[path.suffix]:
        sys.exit(f"{path.name} is too large; at most {LARGEST[path.suffix]:,} bytes.\nMake its bake or clip shorter.")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), sys.argv[2:])
