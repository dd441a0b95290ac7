"""Live mode's demo: a creature with a stiff shell and soft joints, held by one foot, thrown about by a scripted mouse.

Run by ``build_addon.py demo live`` with the extension installed in an isolated profile: ``python live.py FOLDER``. The
mouse goes through live mode's own commands as in the viewport; the take becomes springs and a bake, which is rendered,
and baked again from the scene to show that it is the same.
"""

from __future__ import annotations

import importlib
import math
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from creature import GROUND, add_creature
from mathutils import Vector
from stage import begin, light_and_camera, render

FRAMES = 96
CAMERA, LOOK_AT = (0.35, -2.6, 0.9), (-0.12, 0.0, 0.34)
STRENGTH = 8000.0
"""Stiffness of the mouse's springs, N/m."""
DRAGS = (
    ((0.0, -0.1, 0.26), 4, 40, 2.0),
    ((0.62, 0.0, 0.0), 52, 80, -1.5),
)
"""For each drag: the grabbed position, its first and last frame, and its number of turns."""


def main(folder: Path) -> None:
    """Make, play, record, bake again, render."""
    scene, package = begin(FRAMES)
    creature = add_creature(package)
    light_and_camera(scene, CAMERA, LOOK_AT)
    bpy.ops.mesh.primitive_plane_add(size=200.0, location=(0.0, 0.0, GROUND))
    bpy.context.view_layer.objects.active = creature
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "creature.blend"))
    play(creature, package)
    print(creature.sinew.bake.mesh_summary)
    taken = baked_positions(creature)
    bpy.ops.sinew.delete_bake()
    bpy.ops.sinew.bake()
    again = baked_positions(creature)
    off = max(float(np.abs(a - b).max()) for a, b in zip(taken, again, strict=True))
    print(f"Baked again from the scene: at most {off:.1e} m from the take")
    bpy.ops.wm.save_mainfile()
    render(scene, folder, "live")


def play(creature: bpy.types.Object, package: str) -> None:
    """Record a take with the scripted mouse, and bring it into the scene."""
    job_in, frame_folders, mesh_in, take_to_springs, service, store, stage, take, events = (
        importlib.import_module(f"{package}.{name}")
        for name in (
            "blender_addon.scene_import.job_in",
            "blender_addon.cache.frame_folders",
            "blender_addon.scene_import.mesh_in",
            "blender_addon.scene_export.take_to_springs",
            "core.simulation.frame_loop.live_service",
            "core.jobs.store.frame_store",
            "blender_addon.live.live_scene",
            "blender_addon.live.live_recording",
            "core.foundation.events",
        )
    )
    job = job_in.make_job(creature, bpy.context)
    frames = store.FrameStore.create(frame_folders.live_folder(creature), job)
    # As live mode does: what is kept can be keyed exactly.
    keyable = partial(take_to_springs.keyable_target, scale=mesh_in.unit_scale(bpy.context.scene))
    grabs = [mouse(frame, job.body.surface.positions, keyable) for frame in range(1, FRAMES + 1)]
    told: list[Any] = []
    began = time.perf_counter()
    service.serve(job, frames, told.append, commands(events, grabs))
    live = [event for event in told if event.kind == "live"]
    print(f"Played {len(live)} frames; all of it took {time.perf_counter() - began:.1f} s, compiling and modes too")
    print(f"A frame: {1e3 * statistics.median(event.seconds for event in live):.1f} ms, disk writing with it")
    take.apply(creature, take.Take(job, frames.folder, grabs, stage.Stage.of(creature, bpy.context), edits=[]))
    mesh = next(event for event in told if event.kind == "mesh")
    print(" ".join(mesh.warnings) or "No warnings.")


def commands(events: Any, grabs: list[list[dict[str, Any]]]) -> Iterator[str]:
    """Yield the requests that the window would send to the child process."""
    yield events.line_of(events.Record())
    for each in grabs[1:]:
        yield events.line_of(events.Advance(each))


def mouse(
    frame: int, rest: np.ndarray, keyable: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> list[dict[str, Any]]:
    """Return the grabs at a frame: circles in the plane of the view, as of a hand that shakes the creature, with
    targets rounded by ``keyable``.
    """
    forward = (Vector(LOOK_AT) - Vector(CAMERA)).normalized()
    right = np.array(forward.cross(Vector((0.0, 0.0, 1.0))).normalized())
    up = np.cross(right, np.array(forward))
    grabs = []
    for at, first, last, turns in DRAGS:
        if not first <= frame <= last:
            continue
        vertex = int(np.argmin(np.linalg.norm(rest - at, axis=1)))
        part = (frame - first) / (last - first)
        angle, radius = 2.0 * math.pi * turns * part, 0.22 * min(1.0, 4.0 * part)
        target = rest[vertex] + radius * (math.sin(angle) * right + (1.2 - math.cos(angle)) * up)
        grabs.append({"vertex": vertex, "target": keyable(target, rest[vertex]).tolist(), "stiffness": STRENGTH})
    return grabs


def baked_positions(creature: bpy.types.Object) -> list[np.ndarray]:
    """Return the positions of every shape key."""
    found = []
    for block in creature.data.shape_keys.key_blocks[1:]:
        flat = np.empty(3 * len(creature.data.vertices), dtype=np.float32)
        block.points.foreach_get("co", flat)
        found.append(flat.astype(float))
    return found


if __name__ == "__main__":
    main(Path(sys.argv[-1]).resolve())
