"""A body that is played with begins anew with the scene as it is now: Reset, Record, and settings that ask for it.

The scene is read first, as before every simulation (``reading``). Until that is done the session is as it was, and its
timer leaves the scene alone; stopped before, nothing has changed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy

from ..core.errors import SinewError
from ..core.simulation.job import Job
from . import baking, live, reading
from .stepwise import Steps


def is_outdated(session: live.Session) -> bool:
    """Whether the scene was edited since the session began, as far as it is looked at."""
    return bool(session.pending) or session.state.stale or session.edits.stiffness_differs


def reset(context: Any) -> None:
    """Back to the first frame; edits made meanwhile count from now on."""
    _read(context, _reset)


def record(context: Any) -> None:
    """Start over at the first frame and keep every frame, of the scene as it is now."""
    _read(context, _record)


def reset_when_due(session: live.Session, obj: Any) -> None:
    """The reset that a setting has asked for, outside of the undo step that has changed it."""
    session.reset_is_due = False
    try:
        reset(bpy.context)
    except (SinewError, RuntimeError) as error:
        live.note_error(obj, error)


def _read(context: Any, begin: Callable[[live.Session, Any, Job], None]) -> None:
    session = live.current()
    session.message = ""
    obj = session.object

    def go_on(job: Job) -> None:
        if live.current() is session:
            begin(session, context, job)

    with baking.where_it_is_shown(obj):
        steps = _steps(session, obj, context)
        reading.start(reading.Reading(obj.session_uid, obj.name, steps, go_on, live.note_error))


def _steps(session: live.Session, obj: Any, context: Any) -> Steps[Job]:
    with session.stage.shown():
        return (yield from live.job_steps(obj, context))


def _reset(session: live.Session, context: Any, job: Job) -> None:
    session.state.grabs.clear()
    if is_outdated(session) or not session.state.ready or job.fingerprints() != session.job.fingerprints():
        live.restart(context, job)
    else:
        session.state.reset()


def _record(session: live.Session, context: Any, job: Job) -> None:
    if session.edits.stiffness_differs or job.fingerprints() != session.job.fingerprints():
        live.restart(context, job, record=True)
    else:
        session.state.record(baking.wanted_modes(session.object) > 0)
