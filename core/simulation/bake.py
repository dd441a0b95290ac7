"""A bake: a job simulated into a frame store, with events for whoever watches. The same call in a window's child
process, in a headless Blender and in a script."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from ..body.about_mesh import about_mesh
from ..body.prepare import Prepared, Stopped, materials, prepare, tetrahedra
from ..errors import NotEnoughMemoryError, SinewError, StoreError
from ..events import Done, FrameDone, OnEvent, Phase, StoppedAfter, ignore
from ..files.file_names import check_names
from ..job.job import Job
from ..store.cached_handles import cached_handles
from ..store.frame_store import FrameStore
from ..store.store_lock import alone
from .handles_of_frames import keep_handles, mode_count
from .run import simulate
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
        on_event(StoppedAfter(last[0] if last else None))
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
    on_event(Phase("simulate", _done(job, start), job.frame_count))
    ended = _simulate(job, prepared, store, start, on_event, should_stop, until)
    if modes and ended.kind == "done" and cached_handles(job, store, modes) is None:
        try:
            keep_handles(job, store, modes, prepared, on_event, should_stop)
        except Stopped:
            ended = StoppedAfter(job.frame_end)
    if ended.kind == "done":
        store.check_whole(range(job.frame_start, job.frame_end + 1))
    on_event(ended)
    return ended.kind


def bake_each(
    job: Job,
    folder: Path,
    events_of: Callable[[str], OnEvent] = lambda _name: ignore,
    should_stop: Callable[[], bool] = lambda: False,
    resume: bool = False,
) -> dict[str, str | SinewError]:
    """Simulate the bodies of a job one after the other, each into a store of its own, ``folder / NAME``.

    ``events_of`` a name gets the events of that body's bake; ``resume`` goes on with what lies there. Returns how each
    ended, by its name: as :func:`bake`, or the error that hindered it, which hinders no other.
    """
    names = [body.name for body in job.bodies]
    if names != [""]:
        check_names(names)
    ended: dict[str, str | SinewError] = {}
    for k, body in enumerate(job.bodies):
        store, alone = FrameStore(folder / body.name), job.alone(k)
        goes_on = resume and store.exists()
        try:
            if not goes_on:
                store = FrameStore.create(store.folder, alone)
            ended[body.name] = bake(alone, store, events_of(body.name), should_stop, goes_on)
        except SinewError as error:
            ended[body.name] = error
        except MemoryError:
            ended[body.name] = NotEnoughMemoryError(
                "The memory does not suffice for this body.", "Lower its resolution."
            )
        if should_stop():
            break
    return {body.name: "stopped" for body in job.bodies} | ended


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
) -> Done | StoppedAfter:
    """Frame by frame; the event that tells how it ended."""
    last = start[0] if start else None
    unconverged: list[int] = []
    began = time.perf_counter()
    end = job.frame_end if until is None else min(until, job.frame_end)
    if last is not None and end <= last < job.frame_end:
        return StoppedAfter(last)
    try:
        for frame in simulate(job, prepared, start, should_stop):
            surface, now = prepared.surface(frame.state.positions, frame.number - job.frame_start), time.perf_counter()
            store.write(frame.number, surface, frame.state, frame.reports, now - began)
            last = frame.number
            if not all(report.converged for report in frame.reports):
                unconverged.append(last)
            on_event(FrameDone(last, now - began, frame.reports[-1].as_dict() if frame.reports else {}))
            began = now
            if last == end < job.frame_end:
                raise Stopped
    except Stopped:
        return StoppedAfter(last)
    return Done(job.frame_count, unconverged)


@alone
def build_mesh(
    job: Job, store: FrameStore, on_event: OnEvent = ignore, should_stop: Callable[[], bool] = lambda: False
) -> None:
    """Only the tetrahedra, kept in the store for the bake, and what body they make."""

    def build() -> None:
        mesh, embedding = tetrahedra(job, store, on_event, should_stop)
        on_event(about_mesh(job, mesh, embedding, materials(job, mesh, embedding, store, on_event)))

    _without_frames(build, on_event, should_stop)


@alone
def find_vibrations(
    job: Job, store: FrameStore, on_event: OnEvent = ignore, should_stop: Callable[[], bool] = lambda: False
) -> None:
    """All that comes before the first frame, kept in the store for a bake, with what is told of the body."""
    _without_frames(lambda: prepare(job, store, on_event, should_stop), on_event, should_stop)


def _without_frames(work: Callable[[], object], on_event: OnEvent, should_stop: Callable[[], bool]) -> None:
    """Work that leaves no frames."""
    warm_up(on_event)
    try:
        if should_stop():
            raise Stopped
        work()
    except Stopped:
        on_event(StoppedAfter())
        return
    on_event(Done(0, []))
