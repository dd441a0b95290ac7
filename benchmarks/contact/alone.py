"""A body without contact: same bits and same time, whatever the contact settings are."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ...core.foundation.events import ignore
from ...core.foundation.schema.settings import ContactSettings, MaterialSettings, ResolutionSettings
from ...core.jobs.job.body import Body
from ...core.jobs.job.job import Job
from ...core.simulation.frame_loop.compile_kernels import warm_up
from ...core.simulation.frame_loop.group import simulate_group
from ...core.simulation.frame_loop.single_body import simulate_body
from ...core.simulation.preparation.prepare import Prepared, prepare
from ..registry import Case, Row, row
from ..thin_bodies import ball

ROUNDS, FRAMES = 7, 8
NOTHING = ContactSettings(bodies=False)
"""Settings of a body without contact with others, while the default is contact with all."""


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield Mixed FEM and Newton."""
    yield Case("alone", _alone)


def _job(solver: str, **further: Any) -> Job:
    """Return a ball, held above and shaken, without contact."""
    surface = ball(12, 0.1)
    pins = np.flatnonzero(surface.positions[:, 2] > 0.07)
    shake = np.zeros((FRAMES + 1, 1, 3))
    shake[:, 0, 0] = 0.03 * np.sin(0.6 * np.arange(FRAMES + 1))
    body = Body(
        surface=surface,
        materials=(MaterialSettings("Flesh", 3e4),),
        material_weights=np.ones((len(surface.positions), 1)),
        pinned_vertices=pins,
        pin_positions=surface.positions[pins] + shake,
        resolution=ResolutionSettings(cells_across=9),
        **further,
    )
    job = Job(bodies=(body,), frame_start=1, frame_end=FRAMES + 1, frame_rate=24.0)
    return job.with_body(solver=job.body.solver.__class__(solver=solver))


def _timed(run: Callable[[], np.ndarray]) -> tuple[float, np.ndarray]:
    start = time.process_time()
    found = run()
    return time.process_time() - start, found


def _frames(job: Job, prepared: Prepared) -> np.ndarray:
    return np.array([frame.state.positions for frame in simulate_body(job, prepared)])


def _group(job: Job, prepared: Prepared) -> np.ndarray:
    return np.array([frames[0].state.positions for frames in simulate_group([job], [prepared])])


def _alone() -> Iterable[Row]:
    """Measure processor time of both alternately, and that of a group of only this body."""
    warm_up(ignore)
    for solver in ("mixed_fem", "newton"):
        yield from _compared(solver)


def _compared(solver: str) -> Iterator[Row]:
    jobs = _job(solver, contact=NOTHING), _job(solver)
    bodies = [prepare(each) for each in jobs]
    ways = [partial(_frames, *each) for each in zip(jobs, bodies)]
    ways.append(partial(_group, jobs[1], bodies[1]))
    seconds: list[list[float]] = [[], [], []]
    frames: list[np.ndarray] = [np.zeros(0)] * 3
    for _ in range(ROUNDS):
        for k, way in enumerate(ways):
            took, frames[k] = _timed(way)
            seconds[k].append(took)
    plain, meeting, group = (statistics.median(each) for each in seconds)
    same = int(np.array_equal(frames[0], frames[1]))
    yield row("alone", f"tets, {solver}", len(bodies[0].model.mesh.tets))
    yield row("alone", f"processor ms a frame, {solver}", 1e3 * plain / FRAMES, "ms")
    yield row("alone", f"same bits with meeting at its defaults, {solver}", same, "", at_least=1)
    yield row("alone", f"time over that without, {solver}", meeting / plain, "", at_most=1.05)
    yield row("alone", f"as a group of one: time over that without, {solver}", group / plain, "", at_most=1.05)
    same = int(np.array_equal(frames[0], frames[2]))
    yield row("alone", f"as a group of one: same bits, {solver}", same, "", at_least=1)
