"""Application of a take (live recording) to the scene.

The user's grabs become springs of the body. The recorded frames become the body's bake.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ...core.foundation.errors import StoreError
from ...core.jobs.job.job import Job
from ...core.jobs.store.frame_store import FrameStore
from ..bake import baking
from ..cache import cache_owner
from ..jobs.task import Task
from ..scene_export.take_to_springs import names_of_take, put_take
from ..scene_import.mesh_in import unit_scale
from ..scene_import.springs_in import keyed_springs
from ..window import visibility
from .live_scene import Stage


@dataclass(frozen=True)
class Take:
    """Recording of live mode (take).

    Attributes
    ----------
    job : simulated job, without the grabs
    folder : folder of the store with the recorded frames
    grabs : list of grabs per recorded frame (vertex, target, stiffness); those of the first frame have no effect
    stage : scene and view layer of the recording
    edits : labels of the inputs edited since the session began; the recording was simulated without these edits
    """

    job: Job
    folder: Path
    grabs: Sequence[list[dict[str, Any]]]
    stage: Stage
    edits: list[str]


NOTHING_GRABBED = "Nothing was grabbed while recording: the recorded frames became a bake without springs."

_waiting: Take | None = None


def has_begun(grabs: Sequence[list[dict[str, Any]]] | None) -> bool:
    """Return True if a recording has at least two frames.

    The first frame is the initial state, at rest.

    ``grabs``: one list per frame, or None without a recording.
    """
    return grabs is not None and len(grabs) > 1


def bring_in(take: Take, reason: str, work: Task) -> str:
    """Apply a take (live recording) that ended early.

    Returns "". If the user must act first, for example leave Edit Mode, the take is not applied, and a text about this
    is returned. The job queue then calls this function again (``Task.take``).

    ``reason``: reason for the early end.
    """
    obj = visibility.object_of(work.object_uid)
    if obj is None or not FrameStore(take.folder).exists():
        return ""
    if waits_for := visibility.in_the_way(obj) or _out_of_sight(obj, take.stage):
        obj.sinew.live.message = f"{reason} The recording is not applied yet: {waits_for}."
        return waits_for
    obj.sinew.live.message = f"{reason} The frames recorded until then are kept."
    if len(obj.data.vertices) != len(take.job.body.surface.positions):
        obj.sinew.live.message = f"{reason} The mesh was edited, so the recording is lost."
    else:
        apply(obj, take)
    return ""


def _out_of_sight(obj: Any, stage: Stage) -> str:
    if stage.layer is None or stage.is_in_a_window() and obj.name in stage.layer.objects:
        return ""
    return f"Show “{obj.name}” in its scene and view layer to apply the recording"


def apply(obj: Any, take: Take) -> None:
    """Apply a take (live recording) to the scene by an operator, as one undo step."""
    global _waiting
    _waiting = take
    with visibility.where_it_is_shown(obj):
        bpy.ops.sinew.apply_take("EXEC_DEFAULT", True, object_name=obj.name)
    _waiting = None


def waiting() -> Take:
    """Return the take (live recording) that is being applied.

    Raises StoreError if there is none.
    """
    if _waiting is None:
        raise StoreError("There is no live recording to apply.", "Press Record in the panel Live.")
    return _waiting


def put(obj: Any, context: Any, take: Take) -> int:
    """Turn a take (live recording) into springs and a bake of the body.

    The grabs (mouse springs) become springs of the body. The frames become a bake with these springs, which is the
    displayed result. The solver of live mode becomes the body's solver. Returns the number of frames.
    """
    recorded = FrameStore.open(take.folder)
    frames = recorded.frames()
    job, size = take.job, take.job.body.surface.size / unit_scale(context.scene)
    springs = _springs(take, len(frames))
    put_take(obj, context.scene, springs, job.frame_start, size)
    own = keyed_springs(obj, context, names_of_take(obj), (job.frame_start, job.frame_end))
    folder = cache_owner.folder_to_write(obj)
    obj.sinew.bake.status = "FAILED"  # until the bake is complete
    job = job.with_body(springs=(*job.body.springs, *own))
    baking.keep_earlier(obj, job, folder)
    store = FrameStore.create(folder, job)
    store.take_over(recorded)
    obj.sinew.solver = job.body.solver.solver  # so that a later bake with the recorded springs repeats these positions
    baking.note_meeting([obj], ())
    obj.sinew.bake.message, obj.sinew.bake.separation_object = "", None  # left by the previous bake
    count = baking.put_result(obj, context, "DONE" if len(frames) == job.frame_count else "STOPPED", store)
    obj.sinew.bake.stale = ", ".join(take.edits)
    recorded.keep_until(None)
    if not springs:
        obj.sinew.live.message = f"{obj.sinew.live.message} {NOTHING_GRABBED}".strip()
    return count


def _springs(take: Take, frames: int) -> tuple[Any, ...]:
    from ...core.simulation.frame_loop.live import Grab, take_springs

    grabs = [
        [Grab(g["vertex"], np.array(g["target"]), g["stiffness"]) for g in sample] for sample in take.grabs[:frames]
    ]
    return take_springs(grabs, take.job.body.first_positions)
