"""Frames of a prepared body, one after the other: the one loop over time that interfaces, bakes and scripts share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from ..model.state import State
from ..optimization.report import StepReport
from ..solvers import make_solver
from .job import Job
from .prepare import Prepared


class Stopped(Exception):
    """The caller asked to stop; raised between two steps."""


@dataclass(frozen=True)
class Frame:
    """A frame: its number, the state, the reports of its substeps."""

    number: int
    state: State
    reports: list[StepReport]


def simulate(
    job: Job,
    prepared: Prepared,
    start: tuple[int, State] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Iterator[Frame]:
    """Yield frames from the job's first, or from after ``start`` (a frame and its state), to its last.

    The first frame is the rest shape, without a step. Pins move linearly within a frame. Raises Stopped between steps.
    """
    solver = make_solver(prepared.space, job.solver, prepared.linear_solver)
    pinned = prepared.space.pinned
    if start is None:
        number, state = job.frame_start, prepared.space.rest_state()
        yield Frame(number, state, [])
    else:
        number, state = start
    substeps = job.solver.substeps
    for frame in range(number + 1, job.frame_end + 1):
        at, reports = frame - job.frame_start, []
        if not np.array_equal(prepared.pins.held_corners(at), pinned):
            # Pins were released: other unknowns, another system; the old one's factor goes first.
            pinned = prepared.pins.held_corners(at)
            del solver
            solver = make_solver(replace(prepared.space, pinned=pinned), job.solver, prepared.linear_solver)
        for k in range(1, substeps + 1):
            if should_stop():
                raise Stopped
            targets, loads = prepared.pins.targets_at(at, k / substeps), prepared.loads.at(at, k)
            state, report = solver.step(state, targets, job.time_step, loads)
            reports.append(report)
        yield Frame(frame, state, reports)
