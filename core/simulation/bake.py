"""A bake: a job simulated into a frame store, with events for whoever watches. The same call in a window's child
process, in a headless Blender and in a script."""

from __future__ import annotations

import time
from collections.abc import Callable

from ..errors import StoreError
from .frame_store import FrameStore
from .job import Job
from .prepare import OnEvent, Prepared, ignore, prepare, tetrahedra
from .run import Stopped, simulate
from .warm_up import warm_up


def bake(
    job: Job,
    store: FrameStore,
    on_event: OnEvent = ignore,
    should_stop: Callable[[], bool] = lambda: False,
    resume: bool = False,
) -> str:
    """Simulate a job into a store that was made for it.

    Parameters
    ----------
    on_event : callable
        Gets the events that ``docs/design/contract.md`` lists. A ``frame`` event comes after that frame is safe on
        disk.
    should_stop : callable
        Asked between steps.
    resume : bool
        Go on after the newest whole frame instead of starting over; the result has the same bits either way.

    Returns
    -------
    "done" or "stopped"
    """
    if resume and (changed := store.outdated_by(job)):
        raise StoreError(f"The bake cannot be resumed: {', '.join(changed)} changed since.", "Bake from the start.")
    warm_up(on_event)
    if should_stop():
        return _stopped(job.frame_start, on_event)
    prepared = prepare(job, store, on_event)
    start = store.last_state(job.frame_start) if resume else None
    store.keep_until(start[0] if start else None)
    on_event({"event": "phase", "phase": "simulate", "done": _done(job, start), "total": job.frame_count})
    return _simulate(job, prepared, store, start, on_event, should_stop)


def _done(job: Job, start: tuple | None) -> int:
    return 0 if start is None else start[0] - job.frame_start + 1


def _simulate(job: Job, prepared: Prepared, store: FrameStore, start, on_event: OnEvent, should_stop) -> str:
    last = start[0] if start else job.frame_start
    began = time.perf_counter()
    try:
        for frame in simulate(job, prepared, start, should_stop):
            store.write(frame.number, prepared.surface(frame.state.positions), frame.state, frame.reports)
            last = frame.number
            now = time.perf_counter()
            on_event(
                {
                    "event": "frame",
                    "frame": last,
                    "seconds": now - began,
                    "report": frame.reports[-1].as_dict() if frame.reports else {},
                }
            )
            began = now
    except Stopped:
        return _stopped(last, on_event)
    on_event({"event": "done", "frames": job.frame_count})
    return "done"


def _stopped(frame: int, on_event: OnEvent) -> str:
    on_event({"event": "stopped", "frame": frame})
    return "stopped"


def build_mesh(job: Job, store: FrameStore, on_event: OnEvent = ignore) -> None:
    """Only the tetrahedra, kept in the store for the bake."""
    warm_up(on_event)
    tetrahedra(job, store, on_event)
    on_event({"event": "done", "frames": 0})
