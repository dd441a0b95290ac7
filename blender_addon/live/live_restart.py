"""A body that is played with begins anew with the scene as it is now: Reset, Record, and settings that ask for it.

The scene is read first, as before every simulation (``job_queue``). Until that is done the session is as it was, and
its timer leaves the scene alone; stopped before, nothing has changed.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from ...core.foundation.errors import SinewError
from ...core.foundation.events import Record, Reset
from ...core.jobs.job.job import Job
from ..bake import baking
from ..jobs import job_queue
from ..jobs.task import Work
from ..window.stepwise import Steps
from . import live


def is_outdated(session: live.Session) -> bool:
    """Whether the scene was edited since the session began, as far as it is looked at."""
    return bool(session.pending) or session.state.stale or session.edits.stiffness_differs


def reset() -> None:
    """Back to the first frame, with nothing grabbed; edits made meanwhile count from now on."""
    _begin_anew(record=False)


def record() -> None:
    """Start over at the first frame and keep every frame, of the scene as it is now."""
    _begin_anew(record=True)


def reset_when_due(session: live.Session) -> None:
    """The reset that a setting has asked for, outside of the undo step that has changed it."""
    session.reset_is_due = False
    with suppress(SinewError):  # it was told
        reset()


def _begin_anew(record: bool) -> None:
    session = live.current()

    def read(obj: Any) -> Steps[Job]:
        with session.stage.shown():
            return (yield from live.job_steps(obj))

    def go_on(work: Work, obj: Any, job: Job) -> None:
        if live.current() is session:
            _go_on(session, work, obj, job, record)

    job_queue.begin(live.work_on(session.object, read, go_on), beside=True)


def _go_on(session: live.Session, work: Work, obj: Any, job: Job, record: bool) -> None:
    if is_outdated(session) or not session.state.ready or job.fingerprints() != session.job.fingerprints():
        live.restart(work, obj, job, record)
    elif record:
        session.work.note(Record(baking.wanted_modes(obj)))
    else:
        session.work.note(Reset())
