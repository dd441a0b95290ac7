"""Time stepping of one prepared body."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...jobs.job.job import Job
from ...mechanics.forces.step_potential import Load
from ...methods.model.state import State
from ...methods.solvers import make_solver
from ...methods.subspaces.space import Space
from ...numerics.optimization.step_report import StepReport
from ..preparation.prepare import Prepared, Stopped
from .body_timeline import NO_INTERACTIVE_CHANGE, BodyTimeline, InteractiveChange, StateUpdate


class Stepper:
    """Time stepper of one prepared body, from frame to frame. Frames are counted from 0."""

    def __init__(self, job: Job, prepared: Prepared) -> None:
        self._job, self._course = job, BodyTimeline(job, prepared)
        self._solver = make_solver(self.space, job.body.solver, prepared.linear_solver)

    @property
    def space(self) -> Space:
        """Space of the solver with the present pins and stiffness."""
        return self._course.space

    def advance(
        self,
        state: State,
        at: int,
        further: Callable[[float], Sequence[Load]] = lambda _part: (),
        should_stop: Callable[[], bool] = lambda: False,
        by_hand: InteractiveChange = NO_INTERACTIVE_CHANGE,
    ) -> tuple[State, list[StepReport]]:
        """Return the state at a frame, and the reports of the substeps.

        ``state``: state at the frame before.
        ``at``: the frame, counted from 0.
        ``further``: function that returns additional loads. Its argument is a time, as the fraction (0 to 1) of the
        interval between the two frames.
        ``by_hand``: stiffness that the user sets interactively.

        Raises Stopped between steps if ``should_stop`` returns True.
        """
        job, course, reports = self._job, self._course, []
        substeps = job.body.solver.substeps
        for k in range(1, substeps + 1):
            if should_stop():
                raise Stopped
            part = k / substeps
            changed = course.advance_to(at, part, by_hand)
            if changed.any:
                self._solver.follow(course.space, changed.pinned, changed.stiffness)

            def acting(theta: float, k=k) -> tuple[Load, ...]:
                return course.loads_at(at, k, theta, further)

            state, report = self._solver.step(state, course.pin_targets(at, part), job.time_step, acting)
            reports.append(report)
        course.report_match(reports[-1], state.positions)
        return state, reports

    def follow(self, change: StateUpdate) -> None:
        """Update the body's timeline and the solver after a change of the body."""
        changed = self._course.follow(change)
        if changed.body:
            self._solver = make_solver(self.space, self._job.body.solver, self._course.body.linear_solver)
        elif changed.any:
            self._solver.follow(self.space, changed.pinned, changed.stiffness)
