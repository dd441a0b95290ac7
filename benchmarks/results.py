"""Result of a bake in Blender: time to write it from the frames on disk, and to play it."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .registry import Case, Row, row

ACROSS, ALONG, FRAMES = 250, 200, 240
"""Grid of 50,000 vertices, and number of frames."""


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield a sheet of 50,000 vertices that waves for 240 frames."""
    yield Case("shape_keys", lambda: _result("shape_keys"))
    yield Case("mesh_cache", lambda: _result("mesh_cache"))


def _sheet(context: Any) -> Any:
    import bpy

    from .. import register
    from ..blender_addon.registration import is_registered

    if not is_registered():
        register()
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)
    context.scene.frame_start, context.scene.frame_end = 1, FRAMES
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=ACROSS - 1, y_subdivisions=ALONG - 1)
    bpy.ops.sinew.enable()
    return context.object


def _store_of(job: Any, folder: str) -> Any:
    """Return a store with frames of a wave."""
    from ..core.jobs.store.frame_store import FrameStore
    from ..core.methods.model.state import State

    store, X = FrameStore.create(folder, job), job.body.surface.positions
    nothing = State(np.zeros((1, 3)), np.zeros((1, 3)), np.zeros((1, 6)), None)
    for frame in range(1, FRAMES + 1):
        wave = 0.1 * np.sin(6.0 * X[:, 0] + 0.2 * frame)
        store.write(frame, X + wave[:, None] * [0.0, 0.0, 1.0], nothing, [])
    return store


def _result(kind: str) -> Iterable[Row]:
    import bpy

    from ..blender_addon.scene_export.frames_out import apply_cache, apply_frames
    from ..blender_addon.scene_import.job_in import make_job

    context = bpy.context
    obj = _sheet(context)
    job, frames = make_job(obj, context), list(range(1, FRAMES + 1))
    with tempfile.TemporaryDirectory() as folder:
        store = _store_of(job, folder)
        start = time.perf_counter()
        if kind == "shape_keys":
            carrier = apply_frames(obj, context, job, frames, store.read)
        else:
            carrier = apply_cache(obj, context, job, frames, store.read, store.folder)
        yield row(kind, "written in", time.perf_counter() - start, "s", at_most=5.0)
        seconds = []
        for frame in (*frames, *frames):
            start = time.perf_counter()
            context.scene.frame_set(frame)
            seconds.append(time.perf_counter() - start)
        yield row(kind, "a frame of playback", 1e3 * statistics.median(seconds), "ms", at_most=1.0)
        mesh = carrier.evaluated_get(context.evaluated_depsgraph_get()).data
        shown = np.empty(3 * len(mesh.vertices), dtype=np.float32)
        mesh.vertices.foreach_get("co", shown)
        yield row(
            kind,
            "off the last frame",
            float(np.abs(shown.reshape(-1, 3) - store.read(FRAMES)).max()),
            "m",
            at_most=1e-6,
        )
        bpy.data.objects.remove(carrier)
