"""Bakes: simulation of bodies into frame stores, with events about the progress.

The child process of a Blender window, a headless Blender and scripts call the same functions.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from ...foundation.errors import NotEnoughMemoryError, SinewError, StoreError, named
from ...foundation.events import ContactWarnings, Done, FrameDone, OfBody, OnEvent, Phase, StoppedAfter, ignore
from ...foundation.files.file_names import check_names
from ...jobs.job.groups import check_group, grouped_jobs, pair_warnings
from ...jobs.job.job import Job
from ...jobs.store.cached_contact import cache_contact_surface
from ...jobs.store.cached_handles import cached_handles
from ...jobs.store.frame_store import FrameStore
from ...jobs.store.store_lock import alone, locked
from ...methods.model.state import State
from ..preparation.mesh_report import mesh_report
from ..preparation.prepare import Prepared, Stopped, materials, prepare, tetrahedra
from .compile_kernels import load_kernels, warm_up
from .fit_handles import keep_handles, mode_count
from .group import GroupStepper, any_contact, simulate_group
from .single_body import Frame
from .surface_stress import surface_stress

Member = tuple[Job, FrameStore, int]
"""Body of a group: its job, its store, and the number of skinning modes.

Handles with that number of skinning modes are fitted to the body's frames. 0 means no handles.
"""


def bake(
    job: Job,
    store: FrameStore,
    on_event: OnEvent = ignore,
    should_stop: Callable[[], bool] = lambda: False,
    resume: bool = False,
    modes: int = 0,
    until: int | None = None,
) -> str:
    """Simulate a job of one body into its store. Return "done" or "stopped".

    The store was created for the job. The arguments are those of :func:`bake_frames` for one body.

    ``modes``: number of skinning modes for the handles that are fitted to the frames at the end. 0 means no handles.
    """
    return bake_group([job], [store], on_event, should_stop, resume, [modes], until)


def bake_group(
    jobs: Sequence[Job],
    stores: Sequence[FrameStore],
    on_event: OnEvent = ignore,
    should_stop: Callable[[], bool] = lambda: False,
    resume: bool = False,
    modes: Sequence[int] = (),
    until: int | None = None,
) -> str:
    """Simulate colliding bodies, each into its own store. Return "done" or "stopped".

    The arguments are those of :func:`bake_frames`.

    ``jobs``: one job per body (:func:`.groups.split_jobs`).
    """
    frames = bake_frames(jobs, stores, on_event, should_stop, resume, modes, until)
    while True:
        try:
            next(frames)
        except StopIteration as end:
            return end.value


def bake_frames(
    jobs: Sequence[Job],
    stores: Sequence[FrameStore],
    on_event: OnEvent = ignore,
    should_stop: Callable[[], bool] = lambda: False,
    resume: bool = False,
    modes: Sequence[int] = (),
    until: int | None = None,
    with_vertices: bool = False,
    is_warm: bool = False,
) -> Generator[tuple[int | None, list[Prepared]], None, str]:
    """Simulate colliding bodies, each into its own store, and yield the progress.

    The progress is the last frame that is written in all stores (None before the first), and the prepared bodies.
    Closing the generator early stops the bake.

    Parameters
    ----------
    jobs : one job per body (:func:`.groups.split_jobs`)
    stores : one store per body, created for its job
    on_event : receives the events of ``docs/design/contract.md``; a ``frame`` event is sent once that frame of all
        bodies is on disk
    should_stop : called between steps; the bake stops if it returns True
    resume : True to continue after the newest frame that is complete in all stores, False to start over; the result is
        bitwise identical either way
    modes : number of skinning modes per body, 0 for no handles; at the end, handles with as many modes are fitted to
        the frames of the body (``fit_handles``)
    until : stop after this frame, as if ``should_stop`` had returned True
    with_vertices : also store the positions of the tet vertices per frame, unless the job itself provides the tets;
        those of a body with muscles are always stored, for the overlay of fibres
    is_warm : True to skip the compilation of missing kernels in advance (:func:`warm_up`); a missing kernel is then
        compiled when the simulation first uses it

    Returns
    -------
    "done" or "stopped"
    """
    with ExitStack() as held:
        for store in sorted(stores, key=lambda each: each.folder):
            held.enter_context(locked(store.folder))
        members = list(zip(jobs, stores, modes or [0] * len(jobs)))
        return (yield from _bake(members, on_event, should_stop, resume, until, with_vertices, is_warm))


def _bake(
    members: list[Member],
    on_event: OnEvent,
    should_stop,
    resume: bool,
    until: int | None,
    with_vertices: bool,
    is_warm: bool,
) -> Generator[tuple[int | None, list[Prepared]], None, str]:
    lead = members[0][0]
    if resume:
        for job, store, _modes in members:
            _require_same(job, store)
    last = _last_states(members)
    began = time.perf_counter()
    if is_warm:
        on_event(Phase("compile", 100, 100))
    else:
        warm_up(on_event, [job for job, _store, _modes in members])
    for job, _store, _modes in members:
        load_kernels(job)
    compiled = time.perf_counter()
    try:
        if should_stop():
            raise Stopped
        prepared = _prepare(members, on_event, should_stop)
    except Stopped:
        on_event(StoppedAfter(last[0] if last else None))
        return "stopped"
    times = {"compiling": compiled - began, "preparing_the_body": time.perf_counter() - compiled}
    start = last if resume else None
    for state, each in zip(start[1], prepared) if start else ():
        if not state.fits(each.space.unknowns, len(each.space.elastic.weights)):
            raise StoreError(
                f"The bake cannot be resumed: the state of frame {start[0]} belongs to another body.",
                "Bake from the start.",
            )
    for _job, store, _modes in members:
        store.add_preparation(times)
        store.keep_until(start[0] if start else None)
    if lost := pair_warnings([job for job, _store, _modes in members]):
        on_event(ContactWarnings(lost))
    on_event(Phase("simulate", _done(lead, start), lead.frame_count))
    yield start[0] if start else None, prepared
    ended = yield from _simulate(members, prepared, start, on_event, should_stop, until, with_vertices)
    if ended.kind == "done" and not _keep_handles(members, prepared, on_event, should_stop):
        ended = StoppedAfter(lead.frame_end)
    if ended.kind == "done":
        for job, store, _modes in members:
            store.check_whole(range(job.frame_start, job.frame_end + 1))
    on_event(ended)
    return ended.kind


def _prepare(members: list[Member], on_event: OnEvent, should_stop) -> list[Prepared]:
    """Return the bodies prepared for stepping. An error names the body that caused it."""
    prepared: list[Prepared] = []
    for k, (job, store, modes) in enumerate(members):
        with named(job.body.name, len(members) > 1):
            if len(members) > 1:
                on_event(OfBody(k))
            prepared.append(prepare(job, store, on_event, should_stop, len(members) > 1))
            if modes:
                mode_count(job, prepared[k].model, modes)  # raises an error now, not after the last frame
    return prepared


def _keep_handles(members: list[Member], prepared: list[Prepared], on_event: OnEvent, should_stop) -> bool:
    """Fit and store the requested skinning handles. Return False if the bake was stopped."""
    try:
        for (job, store, modes), each in zip(members, prepared):
            if modes and cached_handles(job, store, modes) is None:
                keep_handles(job, store, modes, each, on_event, should_stop)
    except Stopped:
        return False
    return True


def _last_states(members: list[Member]) -> tuple[int, list[State]] | None:
    """Return the newest frame that all stores have, with the state of each body, or None."""
    until: int | None = None
    while True:
        found = [store.last_state(job.frame_start, until) for job, store, _modes in members]
        if None in found:
            return None
        until = min(frame for frame, _state in found)
        if all(frame == until for frame, _state in found):
            return until, [state for _frame, state in found]


def bake_each(
    job: Job,
    folder: Path,
    events_of: Callable[[str], OnEvent] = lambda _name: ignore,
    should_stop: Callable[[], bool] = lambda: False,
    resume: bool = False,
) -> dict[str, str | SinewError]:
    """Simulate all bodies of a job, each into its own store in ``folder / NAME``.

    Return the outcome per name of a body: "done", "stopped", or the error that prevented the bake. Colliding bodies are
    simulated together, the others in sequence. An error affects only the bodies that collide with each other.

    ``events_of``: function that returns the event handler of a bake, given the names of its bodies, joined by commas.
    ``resume``: True to continue the bakes in the folder.
    """
    names = folder_names(job)
    ended: dict[str, str | SinewError] = dict.fromkeys(names, "stopped")
    for jobs in grouped_jobs(job):
        outcome = _bake_into(jobs, folder, events_of, should_stop, resume)
        ended |= {each.body.name: outcome for each in jobs}
        if should_stop():
            break
    return ended


def folder_names(job: Job) -> list[str]:
    """Return the names of a job's bodies, which are also the names of their folders.

    Raises SettingsError if a name is not valid for a folder.
    """
    names = [body.name for body in job.bodies]
    if names != [""]:
        check_names(names)
    return names


def stores_in(folder: Path, jobs: Sequence[Job], resume: bool) -> tuple[list[FrameStore], bool]:
    """Return the stores ``folder / NAME`` of a group's jobs, and a flag for a continued bake.

    The bake continues the frames in the stores if ``resume`` is True and all stores exist. The flag is then True. If no
    store exists, or without ``resume``, new stores are created. Raises StoreError if ``resume`` is True and only some
    stores exist.
    """
    stores = [FrameStore(folder / job.body.name) for job in jobs]
    goes_on = resume and all(store.exists() for store in stores)
    if any_contact(jobs):
        check_group(jobs)
    for job in jobs:
        job.check()
    if resume and not goes_on and any(store.exists() for store in stores):
        there = next(job.body.name for job, store in zip(jobs, stores) if store.exists())
        raise StoreError(
            f"“{there}” is baked, but not together with all bodies that it collides with.", "Bake from the start."
        )
    if not goes_on:
        stores = [FrameStore.create(store.folder, job) for store, job in zip(stores, jobs)]
    return stores, goes_on


def _bake_into(jobs: list[Job], folder: Path, events_of, should_stop, resume: bool) -> str | SinewError:
    try:
        stores, goes_on = stores_in(folder, jobs, resume)
        heard = events_of(", ".join(job.body.name for job in jobs))
        return bake_group(jobs, stores, heard, should_stop, goes_on)
    except SinewError as error:
        return error
    except MemoryError:
        return NotEnoughMemoryError("There is not enough memory for this body.", "Lower its resolution.")


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
    members: list[Member],
    prepared: list[Prepared],
    start,
    on_event: OnEvent,
    should_stop,
    until: int | None,
    with_vertices: bool,
) -> Generator[tuple[int | None, list[Prepared]], None, Done | StoppedAfter]:
    """Simulate and store all frames after ``start``, yield the progress, and return the event about the outcome."""
    jobs, lead = [job for job, _store, _modes in members], members[0][0]
    last = start[0] if start else None
    unconverged: list[int] = []
    began = time.perf_counter()
    end = lead.frame_end if until is None else min(until, lead.frame_end)
    if last is not None and end <= last < lead.frame_end:
        return StoppedAfter(last)

    def begun(stepper: GroupStepper) -> None:
        on_event(ContactWarnings(stepper.warnings, list(stepper.separation)))
        for (job, store, _modes), own, through in zip(members, stepper.surfaces, stepper.excluded_pairs):
            cache_contact_surface(store, job, own.rest_positions, own.faces, through)

    try:
        for frames in simulate_group(jobs, prepared, start, should_stop, begun=begun):
            last = frames[0].number
            surfaces = [_shown(each, frame, lead.frame_start) for each, frame in zip(prepared, frames)]
            now = time.perf_counter()
            took = _seconds_of_each(frames, now - began)
            for (job, store, _modes), each, frame, surface, own in zip(members, prepared, frames, surfaces, took):
                is_wanted = (with_vertices or job.body.muscles) and job.body.tets is None
                vertices = each.space.vertices(frame.state.positions) if is_wanted else None
                stress = surface_stress(job, each, frame) if store.keeps_stress() else None
                store.write(last, surface, frame.state, frame.reports, own, frame.pressure, vertices, stress)
            if not all(report.converged for frame in frames for report in frame.reports):
                unconverged.append(last)
            ends = [frame.reports[-1] for frame in frames if frame.reports]
            hardest = max(ends, key=lambda report: (not report.converged, report.iterations), default=None)
            on_event(FrameDone(last, now - began, hardest.as_dict() if hardest else {}))
            yield last, prepared
            began = time.perf_counter()
            if last == end < lead.frame_end:
                raise Stopped
    except Stopped:
        return StoppedAfter(last)
    return Done(lead.frame_count, unconverged)


def _shown(prepared: Prepared, frame: Frame, first: int) -> np.ndarray:
    """Return the displayed surface vertices (n,3), m, of a body at a frame, with corrected pins unless blocked."""
    is_blocked = bool(frame.reports) and frame.reports[-1].blocked > 0.0
    return prepared.surface(frame.state.positions, None if is_blocked else frame.number - first)


def _seconds_of_each(frames: Sequence[Frame], seconds: float) -> list[float]:
    """Return the computing time, s, per body of a frame that took ``seconds`` for all bodies."""
    steps = [[(sum(report.seconds.values()), len(report.solved_with)) for report in each.reports] for each in frames]
    of_all = sum(own / (1 + others) for each in steps for own, others in each)
    return [seconds - of_all + sum(own for own, _others in each) for each in steps]


@alone
def build_mesh(
    job: Job, store: FrameStore, on_event: OnEvent = ignore, should_stop: Callable[[], bool] = lambda: False
) -> None:
    """Build the tetrahedra of a job's body, and store them for a bake.

    An event reports the tetrahedra.
    """

    def build() -> None:
        mesh, embedding = tetrahedra(job, store, on_event, should_stop)
        on_event(mesh_report(job, mesh, embedding, materials(job, mesh, embedding, store, on_event)[0]))

    _without_frames(job, build, on_event, should_stop)


@alone
def find_vibrations(
    job: Job, store: FrameStore, on_event: OnEvent = ignore, should_stop: Callable[[], bool] = lambda: False
) -> None:
    """Compute and store all that a bake computes before its first frame.

    The vibrations of the body are among the results. An event reports the tetrahedra and the vibrations
    (:func:`mesh_report`).
    """
    _without_frames(job, lambda: prepare(job, store, on_event, should_stop), on_event, should_stop)


def _without_frames(job: Job, work: Callable[[], object], on_event: OnEvent, should_stop: Callable[[], bool]) -> None:
    """Compile the kernels and call ``work``, a function that computes no frames."""
    warm_up(on_event, [job])
    try:
        if should_stop():
            raise Stopped
        work()
    except Stopped:
        on_event(StoppedAfter())
        return
    on_event(Done(0, []))
