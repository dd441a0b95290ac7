"""A bake: a job simulated into a frame store, with events for whoever watches. The same call in a window's child
process, in a headless Blender and in a script."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from ..errors import StoreError
from .frame_store import FrameStore
from .handles_of_frames import keep_handles, mode_count
from .job import Job
from .kept_handles import kept_handles
from .prepare import OnEvent, Prepared, Stopped, ignore, materials, prepare, tetrahedra
from .run import simulate
from .store_lock import alone
from .warm_up import load_kernels, warm_up


@alone
def bake(
    job: Job,
    store: FrameStore,
    on_event: OnEvent = ignore,
    should_stop: Callable[[], bool] = lambda: False,
    resume: bool = False,
    modes: int = 0,
    until: int | None = None,
) -> str:
    """Simulate a job into a store that was made for it.

    Parameters
    ----------
    on_event : gets the events of ``docs/design/contract.md``; ``frame`` comes after that frame is safe on disk
    should_stop : asked between steps
    resume : go on after the newest whole frame instead of starting over; the result has the same bits either way
    modes : more than 0: keep the frames as handles, too (``handles_of_frames``), when all are done
    until : stop after this frame, as if asked to

    Returns
    -------
    "done" or "stopped"
    """
    if resume:
        _require_same(job, store)
    last = store.last_state(job.frame_start)
    began = time.perf_counter()
    warm_up(on_event)
    load_kernels(job)
    compiled = time.perf_counter()
    try:
        if should_stop():
            raise Stopped
        prepared = prepare(job, store, on_event, should_stop)
    except Stopped:
        on_event({"event": "stopped", "frame": last[0] if last else None})
        return "stopped"
    store.add_preparation({"compiling": compiled - began, "preparing_the_body": time.perf_counter() - compiled})
    if modes:
        mode_count(job, prepared.model, modes)  # refused now, not after the last frame
    start = last if resume else None
    space = prepared.space
    if start and not start[1].fits(space.unknowns, len(space.elastic.weights)):
        raise StoreError(
            f"The bake cannot be resumed: the state of frame {start[0]} is of another body.", "Bake from the start."
        )
    store.keep_until(start[0] if start else None)
    on_event({"event": "phase", "phase": "simulate", "done": _done(job, start), "total": job.frame_count})
    ended = _simulate(job, prepared, store, start, on_event, should_stop, until)
    if modes and ended["event"] == "done" and kept_handles(job, store, modes) is None:
        try:
            keep_handles(job, store, modes, prepared, on_event, should_stop)
        except Stopped:
            ended = {"event": "stopped", "frame": job.frame_end}
    if ended["event"] == "done":
        store.check_whole(range(job.frame_start, job.frame_end + 1))
    on_event(ended)
    return ended["event"]


def _require_same(job: Job, store: FrameStore) -> None:
    changed = store.outdated_by(job)
    if "version" in changed:
        raise StoreError(
            "The bake cannot be resumed: another version of Sinew made its frames.", "Bake from the start."
        )
    if changed:
        raise StoreError(f"The bake cannot be resumed: {', '.join(changed)} changed since.", "Bake from the start.")


def _done(job: Job, start: tuple | None) -> int:
    return 0 if start is None else start[0] - job.frame_start + 1


def _simulate(
    job: Job, prepared: Prepared, store: FrameStore, start, on_event: OnEvent, should_stop, until: int | None
) -> dict[str, Any]:
    """Frame by frame; the event that tells how it ended."""
    last = start[0] if start else None
    unsettled: list[int] = []
    began = time.perf_counter()
    end = job.frame_end if until is None else min(until, job.frame_end)
    if last is not None and end <= last < job.frame_end:
        return {"event": "stopped", "frame": last}
    try:
        for frame in simulate(job, prepared, start, should_stop):
            surface, now = prepared.surface(frame.state.positions, frame.number - job.frame_start), time.perf_counter()
            store.write(frame.number, surface, frame.state, frame.reports, now - began)
            last = frame.number
            if not all(report.converged for report in frame.reports):
                unsettled.append(last)
            on_event(
                {
                    "event": "frame",
                    "frame": last,
                    "seconds": now - began,
                    "report": frame.reports[-1].as_dict() if frame.reports else {},
                }
            )
            began = now
            if last == end < job.frame_end:
                raise Stopped
    except Stopped:
        return {"event": "stopped", "frame": last}
    return {"event": "done", "frames": job.frame_count, "unsettled": unsettled}


@alone
def build_mesh(
    job: Job, store: FrameStore, on_event: OnEvent = ignore, should_stop: Callable[[], bool] = lambda: False
) -> None:
    """Only the tetrahedra, kept in the store for the bake, and what body they make."""
    warm_up(on_event)
    try:
        if should_stop():
            raise Stopped
        mesh, embedding = tetrahedra(job, store, on_event, should_stop)
    except Stopped:
        on_event({"event": "stopped", "frame": None})
        return
    on_event(materials(job, mesh, embedding, store, on_event)[1])
    on_event({"event": "done", "frames": 0, "unsettled": []})
