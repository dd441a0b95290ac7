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
from . import baking
from .bridge import job_in
from .bridge.mesh_in import unit_scale
from .bridge.take_out import names_of_take, put_take
from .live_state import Event


@dataclass(frozen=True)
class Take:
    """What was recorded.

    Attributes
    ----------
    job : what was simulated beside the grabs
    folder : of the store with the frames
    grabs : of each frame, those of the first not counting, as the child was asked
    """

    job: Job
    folder: Path
    grabs: list[list[Event]]


_waiting: Take | None = None


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
    put_take(obj, context.scene, _springs(take, len(frames)), job.frame_start, size)
    now = job_in.make_job(obj, context)
    own = [spring for spring in now.springs if spring.name in names_of_take(obj)]
    # What the take was simulated with, which edits made meanwhile are not part of.
    store = FrameStore.create(job_in.writable_folder(obj), replace(job, springs=(*job.springs, *own)))
    store.take_over(recorded)
    count = baking.put_result(obj, context, "DONE" if len(frames) == job.frame_count else "STOPPED", store)
    obj.sinew.bake.stale = ", ".join(store.outdated_by(now))
    recorded.keep_until(None)
    return count


def _springs(take: Take, frames: int) -> tuple[Any, ...]:
    from ..core.simulation.live import Grab, take_springs  # it loads Numba, which Blender's start does not wait for

    grabs = [[Grab(g["vertex"], np.array(g["target"]), g["stiffness"]) for g in asked] for asked in take.grabs[:frames]]
    return take_springs(grabs, take.job.surface.positions)
