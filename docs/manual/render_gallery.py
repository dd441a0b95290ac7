"""Clips and baked .blend files of Add > Sinew Examples for the gallery of the site.

``build_addon.py gallery`` runs it; ``python render_gallery.py FOLDER [NAME ...]`` makes some of them.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import bpy
import numpy as np
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
KEYS = 6
"""Frames of a clip from one key of the camera to the next, where bodies leave the picture of the manual."""
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
            follow_bodies(scene, shown)
            target = folder / Path(bpy.data.filepath).stem
            save_blend(scene, target.with_suffix(".blend"))
            frames = []
            for frame in shown:
                scene.frame_set(frame)
                frames.append(manual.render_frame(Path(scratch) / f"{frame:04}.png", SIZE))
            save_clip(frames, target.with_suffix(".webp"))


def follow_bodies(scene: Any, frames: range) -> None:
    """Key the location of the camera so that it sees the bodies in all frames.

    The camera stays at its location as long as it sees them from there, and comes no nearer. A key serves the frames up
    to both neighbouring keys: between two locations that see a body, every location on the line sees it.
    """
    scene.render.resolution_x, scene.render.resolution_y = SIZE
    points = [points_of_bodies(scene, frame) for frame in frames]
    camera, home = scene.camera, scene.camera.location.copy()
    at = [*range(0, len(frames) - 1, KEYS), len(frames) - 1]
    near = [np.concatenate(points[max(k - KEYS, 0) : k + KEYS + 1]) for k in at]
    if all(sees(scene, each) for each in near):
        return
    for k, each in zip(at, near, strict=True):
        camera.location = home
        if not sees(scene, each):
            camera.location = fitted_location(scene, each, home)
        camera.keyframe_insert("location", frame=frames[k])


def points_of_bodies(scene: Any, frame: int) -> np.ndarray:
    """Return the vertices (n,3) of the visible objects with shape keys at a frame, m."""
    scene.frame_set(frame)
    graph = bpy.context.evaluated_depsgraph_get()
    shown = [obj for obj in scene.objects if obj.type == "MESH" and obj.data.shape_keys and not obj.hide_render]
    points = []
    for body in (obj.evaluated_get(graph) for obj in shown):
        own = np.empty(3 * len(body.data.vertices), dtype=np.float32)
        body.data.vertices.foreach_get("co", own)
        matrix = np.array(body.matrix_world)
        points.append(own.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3])
    return np.concatenate(points)


def sees(scene: Any, points: np.ndarray) -> bool:
    """Return True if all points (n,3) are in the picture of the camera."""
    camera = scene.camera
    corner = camera.data.view_frame(scene=scene)[0]
    x, y, z = ((points - camera.location) @ np.array(camera.rotation_euler.to_matrix())).T
    depth = z / corner.z
    return bool((depth > 0.0).all() and (abs(x) <= depth * corner.x).all() and (abs(y) <= depth * corner.y).all())


def fitted_location(scene: Any, points: np.ndarray, home: Vector) -> Vector:
    """Return a location, no nearer than ``home``, from which the camera sees the points (n,3) with a margin."""
    graph = bpy.context.evaluated_depsgraph_get()
    location, _ = scene.camera.camera_fit_coords(graph, points.ravel().tolist())
    middle = Vector(0.5 * (points.min(axis=0) + points.max(axis=0)))
    location += MARGIN * (location - middle)
    back = scene.camera.rotation_euler.to_matrix().col[2]
    return location + max(back.dot(home - location), 0.0) * back


def save_blend(scene: Any, path: Path) -> None:
    """Save the baked scene and copy it to ``path``.

    It opens at the first frame, seen through the camera, with materials. It names no folder of this computer: all paths
    are relative to the file.
    """
    scene.frame_set(scene.frame_start)
    for area in (area for screen in bpy.data.screens for area in screen.areas):
        if area.type == "VIEW_3D":
            area.spaces[0].region_3d.view_perspective = "CAMERA"
            area.spaces[0].shading.type = "MATERIAL"
        for space in area.spaces:
            if space.type == "FILE_BROWSER" and space.params is not None:
                space.params.directory = b"//"
    scene.render.filepath = "//"
    for obj in bpy.data.objects:
        obj.sinew.bake.home = ""  # the frames are beside the file that is saved
    bpy.context.preferences.filepaths.save_version = 0  # no .blend1 beside it
    bpy.ops.wm.save_mainfile(compress=True, relative_remap=False)
    shutil.copyfile(bpy.data.filepath, path)
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
