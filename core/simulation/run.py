"""Frames of a prepared body, one after the other: the one loop over time that interfaces, bakes and scripts share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..forces.step_potential import Load
from ..model.settings import moduli
from ..model.state import State
from ..optimization.report import StepReport
from ..solvers import make_solver
from .job import Job
from .loads import between
from .prepare import Prepared, Stopped


@dataclass(frozen=True)
class Frame:
    """A frame: its number, the state, the reports of its substeps."""

    number: int
    state: State
    reports: list[StepReport]


class Stepper:
    """Steps a prepared job from frame to frame; frames are counted from the job's first as 0."""

    def __init__(self, job: Job, prepared: Prepared) -> None:
        self._job, self._prepared = job, prepared
        self._space, self._pin_springs = prepared.space, prepared.pin_springs
        self._moduli = None if job.moduli is None else np.log(job.moduli / moduli(job.materials))
        self._change = np.zeros(0 if self._moduli is None else self._moduli.shape[1])
        self._solver = make_solver(prepared.space, job.solver, prepared.linear_solver)

    def advance(
        self,
        state: State,
        at: int,
        further: Callable[[float], Sequence[Load]] = lambda _part: (),
        should_stop: Callable[[], bool] = lambda: False,
    ) -> tuple[State, list[StepReport]]:
        """The state at a frame from that at the one before. Pins move linearly within a frame.

        ``further`` gives what acts beside the job's own loads in the step that ends at a part (0 to 1) of the way.
        Raises Stopped between steps.
        """
        prepared, job, reports = self._prepared, self._job, []
        self._hold(prepared.pins.held_corners(at))
        substeps = job.solver.substeps
        for k in range(1, substeps + 1):
            if should_stop():
                raise Stopped
            self._follow_stiffness(at, k / substeps)
            targets, loads = prepared.pins.targets_at(at, k / substeps), prepared.loads.at(at, k)
            held = self._pin_springs.at(at, k / substeps)
            state, report = self._solver.step(state, targets, job.time_step, (*held, *loads, *further(k / substeps)))
            reports.append(report)
        return state, reports

    def _hold(self, pinned: np.ndarray) -> None:
        """Pins that are released make other unknowns, so another system; the old one's factor goes first."""
        if np.array_equal(pinned, self._space.pinned):
            return
        del self._solver
        self._space = replace(self._space, pinned=pinned)
        self._solver = make_solver(self._space, self._job.solver, self._prepared.linear_solver)

    def _follow_stiffness(self, at: int, part: float) -> None:
        """Stiffness that is animated, at a part of the way to a frame."""
        if self._moduli is None:
            return
        change = between(self._moduli[at - 1], self._moduli[at], part)
        if np.array_equal(change, self._change):
            return
        self._change = change
        stiffened = self._prepared.stiffened(change)
        self._space = replace(stiffened.space, pinned=self._space.pinned)
        self._pin_springs = stiffened.pin_springs
        self._solver.follow_stiffness(self._space)


def simulate(
    job: Job,
    prepared: Prepared,
    start: tuple[int, State] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Iterator[Frame]:
    """Yield frames from the job's first, or from after ``start`` (a frame and its state), to its last.

    The first frame is the rest shape, or that where the job begins, without a step. Raises Stopped between steps.
    """
    stepper = Stepper(job, prepared)
    if start is None:
        number, state = job.frame_start, prepared.first_state()
        yield Frame(number, state, [])
    else:
        number, state = start
    for frame in range(number + 1, job.frame_end + 1):
        state, reports = stepper.advance(state, frame - job.frame_start, should_stop=should_stop)
        yield Frame(frame, state, reports)
