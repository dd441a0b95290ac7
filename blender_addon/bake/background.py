"""What the buttons Bake, Resume, Convert Result, Tetrahedralize and Find Vibrations share: in a window the child works,
without one the library does.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import bpy

from ...core.errors import SinewError
from ...core.events import Event, Mesh
from ...core.job.job import Job
from ..basics import shown
from ..basics.stepwise import Steps
from ..child import running
from ..child.process import Order
from ..child.work import Work
from ..scene_in import job_in
from ..scene_in.settings_in import frame_range
from . import baking
from .together import Together

Reader = Callable[..., Steps[Job]]
"""Reads a body's job, as ``job_in.job_steps`` does."""
WITHOUT_FRAMES = ("mesh", "vibrations")
"""Modes after which the scene has the result that it had."""
STORES = {"resume": baking.prepare_resume, "vibrations": baking.live_store}
"""Where the job is kept, but that of a fresh bake."""
STATUS_OF = {"done": "DONE", "stopped": "STOPPED", "error": "FAILED"}


def work_on(obj: Any, mode: str, until: int | None = None, job_steps: Reader = job_in.job_steps) -> Work:
    """``bake``, ``resume`` (both up to frame ``until``; "" is that of them which keeps frames), ``handles``, ``mesh``
    or ``vibrations`` of a body, for ``running.begin``; ``job_steps`` reads its job.
    """
    read, start = partial(_read, mode=mode, job_steps=job_steps), partial(_start, until=until)
    here = partial(_work_here, until=until)
    again = {"again": "Begin again."} if mode in WITHOUT_FRAMES else {}
    return Work(obj.session_uid, obj.name, read, start, baking.note_error, _take, here, **again)


def begin(obj: Any, mode: str, until: int | None = None) -> None:
    """Begin :func:`work_on` a body alone."""
    running.begin(work_on(obj, mode, until))


def work_on_all(bodies: Sequence[Any]) -> list[Work]:
    """:func:`work_on` several, to go on with or to bake; as far as can be they are read together."""
    together = Together(bodies)
    return [work_on(obj, "", job_steps=together.job_steps) for obj in bodies]


def _read(obj: Any, mode: str, job_steps: Reader) -> Steps[tuple[str, Any, Any]]:
    """The mode that ``mode`` comes to, the job and its store."""
    if mode == "handles":
        store = baking.own_store(obj, shown=True)
        return mode, store.job(), store
    if mode != "vibrations":
        baking.check_folder(obj, mode)
    # Tetrahedra are those of the first frame: no other is sampled for them.
    frames = {"frames": 2 * frame_range(obj.sinew, bpy.context.scene)[:1]} if mode == "mesh" else {}
    job = yield from job_steps(obj, bpy.context, **frames)
    mode = mode or baking.mode_of(obj, job)
    return mode, job, STORES.get(mode, baking.prepare)(obj, job)


def _start(work: Work, obj: Any, read: tuple[str, Any, Any], until: int | None) -> None:
    mode, job, store = read
    last = job.frame_end if until is None else min(until, job.frame_end)
    frames = last - job.frame_start + 1 if mode not in WITHOUT_FRAMES else 0
    work.start(Order(store.folder, mode, frames, baking.wanted_modes(obj), until))


def _work_here(_work: Work, obj: Any, read: tuple[str, Any, Any], until: int | None) -> None:
    """The whole work in this process; SinewError when it fails, with the frames done kept."""
    from ...core.simulation import bake, handles_of_frames

    mode, job, store = read
    events: list[Event] = []
    status = obj.sinew.bake.status
    if mode == "mesh":
        bake.build_mesh(job, store, events.append)
    elif mode == "vibrations":
        bake.find_vibrations(job, store, events.append)
    elif mode == "handles":
        handles_of_frames.find_handles(job, store, baking.wanted_modes(obj), events.append)
    else:
        modes = baking.wanted_modes(obj)
        try:
            status = STATUS_OF[bake.bake(job, store, events.append, resume=mode == "resume", modes=modes, until=until)]
        except SinewError as error:
            apply(obj, store.folder, STATUS_OF["error"], str(error))
            raise
    baking.note_mesh(obj, next((e for e in events if isinstance(e, Mesh)), None))
    if mode not in WITHOUT_FRAMES:
        apply(obj, store.folder, status)


def _take(work: Work) -> str:
    """Take the child's result into the scene; what it waits for (Edit Mode, a running tool)."""
    obj, order, message = shown.object_of(work.object_uid), work.order, work.state.message_with_remedy
    if obj is None:
        if order.mode not in WITHOUT_FRAMES:
            print(
                f"sinew: “{work.object_name}” is gone; its frames are kept in {order.folder}: undo, then press Resume.",
                file=sys.stderr,
            )
        return ""
    if order.mode not in WITHOUT_FRAMES and (waits_for := shown.in_the_way(obj)):
        return waits_for
    baking.note_mesh(obj, work.state.mesh)
    if order.mode in WITHOUT_FRAMES or (order.mode == "handles" and work.state.outcome != "done"):
        obj.sinew.bake.message = message
    elif order.mode == "handles":
        apply(obj, order.folder, obj.sinew.bake.status)
    else:
        apply(obj, order.folder, STATUS_OF[work.state.outcome], message)
    return ""


def apply(obj: Any, folder: Path, status: str, message: str = "") -> None:
    """Call the operator that turns frames into shape keys, so that one undo takes it back."""
    with shown.where_it_is_shown(obj):
        bpy.ops.sinew.apply_bake(
            "EXEC_DEFAULT", True, object_name=obj.name, folder=str(folder), status=status, message=message
        )
