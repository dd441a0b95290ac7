"""What the buttons Bake, Resume, Convert Result and Tetrahedralize share: in a window the child works, without one the
library does.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import bpy

from ..core.errors import SinewError
from . import baking, reading
from . import job as child
from .bridge.settings_in import frame_range
from .stepwise import Steps, at_once

STATUS_OF = {"done": "DONE", "stopped": "STOPPED", "error": "FAILED"}


def begin(obj: Any, context: Any, mode: str, until: int | None = None, place: str = "") -> None:
    """Start the child for ``bake``, ``resume`` (both up to frame ``until``; "" is that of them which keeps frames),
    ``handles`` or ``mesh``, once the animation is read; under ``--background`` do it at once. SinewError when the
    object is refused, RuntimeError when a child is at work.

    Timers never run in background mode, so that there the work has to be over when this returns.
    """
    steps = prepare_steps(obj, context, mode)
    if bpy.app.background:
        mode, job, store = at_once(steps)
        run_here(obj, mode, job, store, until)
        return

    def start(prepared: tuple[str, Any, Any]) -> None:
        child.start(child_run(obj, *prepared, until, place))

    reading.start(reading.Reading(obj.session_uid, obj.name, steps, start, baking.note_error, place))


def prepare_steps(obj: Any, context: Any, mode: str) -> Steps[tuple[str, Any, Any]]:
    """The mode that ``mode`` comes to, the job and its store."""
    if mode == "handles":
        store = baking.own_store(obj, shown=True)
        return mode, store.job(), store
    mode = mode or (yield from baking.mode_steps(obj, context))
    prepare = baking.prepare_resume_steps if mode == "resume" else baking.prepare_steps
    # Tetrahedra are those of the first frame: no other is sampled for them.
    frames = 2 * frame_range(obj.sinew, context.scene)[:1] if mode == "mesh" else None
    job, store = yield from prepare(obj, context, frames)
    return mode, job, store


def run_here(obj: Any, mode: str, job: Any, store: Any, until: int | None = None) -> None:
    """The whole work in this process; SinewError when it fails, with the frames done kept."""
    from ..core.simulation import bake, handles_of_frames

    events: list[dict[str, Any]] = []
    status = obj.sinew.bake.status
    if mode == "mesh":
        bake.build_mesh(job, store, events.append)
    elif mode == "handles":
        handles_of_frames.find_handles(job, store, baking.wanted_modes(obj), events.append)
    else:
        modes = baking.wanted_modes(obj)
        try:
            status = STATUS_OF[bake.bake(job, store, events.append, resume=mode == "resume", modes=modes, until=until)]
        except SinewError as error:
            apply(obj, store.folder, STATUS_OF["error"], str(error))
            raise
    baking.note_mesh(obj, next((e for e in events if e["event"] == "mesh"), {}))
    if mode != "mesh":
        apply(obj, store.folder, status)


def child_run(obj: Any, mode: str, job: Any, store: Any, until: int | None = None, place: str = "") -> child.Run:
    """The description of the child's work on ``obj``."""
    last = job.frame_end if until is None else min(until, job.frame_end)
    return child.Run(
        object_uid=obj.session_uid,
        object_name=obj.name,
        folder=store.folder,
        mode=mode,
        frames_total=last - job.frame_start + 1 if mode != "mesh" else 0,
        on_end=finish,
        modes=baking.wanted_modes(obj),
        until=until,
        place=place,
    )


def finish(run: child.Run) -> bool:
    """Take the child's result into the scene; False while the scene cannot take it yet (Edit Mode, a running tool)."""
    obj = baking.object_of(run.object_uid)
    if obj is None:
        if run.mode != "mesh":
            print(
                f"sinew: “{run.object_name}” is gone; its frames are kept in {run.folder}: undo, then press Resume.",
                file=sys.stderr,
            )
        return True
    run.waits_for = in_the_way(obj) if run.mode != "mesh" else ""
    if run.waits_for:
        return False
    baking.note_mesh(obj, run.mesh)
    message = f"{run.message} {run.remedy}".strip()
    if run.mode == "mesh" or (run.mode == "handles" and run.outcome != "done"):
        obj.sinew.bake.message = message
    elif run.mode == "handles":
        apply(obj, run.folder, obj.sinew.bake.status)
    else:
        apply(obj, run.folder, STATUS_OF[run.outcome], message)
    return True


def apply(obj: Any, folder: Path, status: str, message: str = "") -> None:
    """Call the operator that turns frames into shape keys, so that one undo takes it back."""
    with baking.where_it_is_shown(obj):
        bpy.ops.sinew.apply_bake(
            "EXEC_DEFAULT", True, object_name=obj.name, folder=str(folder), status=status, message=message
        )


def in_the_way(obj: Any) -> str:
    """What the artist has to do before the scene can take a result; "" when it can."""
    if obj.mode == "EDIT":
        return "Leave Edit Mode (Tab) to take the result"
    if any(len(window.modal_operators) for window in bpy.context.window_manager.windows):
        return "Finish the running tool to take the result"
    return ""
