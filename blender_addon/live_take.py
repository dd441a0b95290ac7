"""A recorded take becomes part of the scene: its grabs springs, its frames a bake of those springs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ..core.errors import StoreError
from ..core.simulation.frame_store import FrameStore
from ..core.simulation.job import Job
from . import background, baking
from . import job as child
from .bridge import cache_owner
from .bridge.mesh_in import unit_scale
from .bridge.springs_in import keyed_springs
from .bridge.take_out import names_of_take, put_take
from .live_scene import Stage
from .live_state import Event


@dataclass(frozen=True)
class Take:
    """What was recorded.

    Attributes
    ----------
    job : what was simulated beside the grabs
    folder : of the store with the frames
    grabs : of each frame, those of the first not counting, as the child was asked
    stage : where it was recorded
    edits : what was edited since playing began, as far as it is looked at: the take has none of it
    """

    job: Job
    folder: Path
    grabs: list[list[Event]]
    stage: Stage
    edits: list[str]


NOTHING_GRABBED = "Nothing was grabbed while recording: the take is a bake, and no springs come with it."

_waiting: Take | None = None


def has_begun(grabs: list[list[Event]] | None) -> bool:
    """Whether grabs of a recording, if there is one, go beyond its first frame, at rest."""
    return grabs is not None and len(grabs) > 1


def bring_in(take: Take, reason: str, run: child.Run) -> bool:
    """Keep a take that was cut off: an ``on_end`` of the child. False while the scene cannot take it yet."""
    obj = baking.object_of(run.object_uid)
    if obj is None or not FrameStore(take.folder).exists():
        return True
    run.waits_for = background.in_the_way(obj) or _out_of_sight(obj, take.stage)
    if run.waits_for:
        obj.sinew.live.message = f"{reason} What was recorded waits: {run.waits_for}."
        return False
    obj.sinew.live.message = f"{reason} What was recorded until then is kept."
    if len(obj.data.vertices) != len(take.job.surface.positions):
        obj.sinew.live.message = f"{reason} The mesh was edited, so what was recorded is lost."
    else:
        apply(obj, take)
    return True


def _out_of_sight(obj: Any, stage: Stage) -> str:
    if stage.layer is None or stage.is_in_a_window() and obj.name in stage.layer.objects:
        return ""
    return f"Show “{obj.name}” in its scene and view layer to take the recording"


def apply(obj: Any, take: Take) -> None:
    """Call the operator that brings a take into the scene, so that one undo takes it back."""
    global _waiting
    _waiting = take
    with baking.where_it_is_shown(obj):
        bpy.ops.sinew.apply_take("EXEC_DEFAULT", True, object_name=obj.name)
    _waiting = None


def waiting() -> Take:
    """The take that is to be brought into the scene; StoreError when there is none."""
    if _waiting is None:
        raise StoreError("There is no take.", "Press Record in the panel Live.")
    return _waiting


def put(obj: Any, context: Any, take: Take) -> int:
    """Turn grabs into springs and frames into shape keys; how many frames. The bake is that of the springs."""
    recorded = FrameStore.open(take.folder)
    frames = recorded.frames()
    job, size = take.job, take.job.surface.size / unit_scale(context.scene)
    springs = _springs(take, len(frames))
    put_take(obj, context.scene, springs, job.frame_start, size)
    own = keyed_springs(obj, context, names_of_take(obj), (job.frame_start, job.frame_end))
    folder = cache_owner.folder_to_write(obj)
    obj.sinew.bake.status = "FAILED"  # until all of it is there
    store = FrameStore.create(folder, replace(job, springs=(*job.springs, *own)))
    store.take_over(recorded)
    count = baking.put_result(obj, context, "DONE" if len(frames) == job.frame_count else "STOPPED", store)
    obj.sinew.bake.stale = ", ".join(take.edits)
    recorded.keep_until(None)
    if not springs:
        obj.sinew.live.message = f"{obj.sinew.live.message} {NOTHING_GRABBED}".strip()
    return count


def _springs(take: Take, frames: int) -> tuple[Any, ...]:
    from ..core.simulation.live import Grab, take_springs  # it loads Numba, which Blender's start does not wait for

    grabs = [[Grab(g["vertex"], np.array(g["target"]), g["stiffness"]) for g in asked] for asked in take.grabs[:frames]]
    return take_springs(grabs, take.job.first_positions)
