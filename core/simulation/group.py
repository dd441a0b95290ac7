"""Bodies that meet, stepped as one from frame to frame: each is prepared as alone, and keeps its own pins, loads and
changes; they share the solver's settings, its steps, and what keeps them apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ..body.meeting_surfaces import check_apart, meeting, own_surface, standing, surface_warnings
from ..body.prepare import Prepared, Stopped
from ..errors import SettingsError
from ..forces.of_body import OfBody
from ..forces.step_potential import Load
from ..job.job import Job
from ..model.joined import joined, joined_state, states_of
from ..model.state import State
from ..optimization.report import StepReport
from ..solver_kinds import SOLVER_KINDS
from ..solvers import make_solver
from .course import Course
from .run import Frame

FRICTION = 0.3
"""Between bodies."""


class GroupStepper:
    """Steps prepared jobs of one body each as one; frames are counted from the first as 0.

    They are prepared :func:`without_colliders`: the barrier keeps them off what they run into, not each one's penalty.
    SettingsError where they do not go together.
    """

    def __init__(self, jobs: Sequence[Job], prepared: Sequence[Prepared]) -> None:
        _check(jobs)
        self._lead = jobs[0]
        self._courses = [Course(job, each) for job, each in zip(jobs, prepared)]
        self._colliders = standing(jobs)
        self._whole = joined([course.space for course in self._courses])
        self._solver = make_solver(self._whole, self._lead.body.solver, prepared[0].linear_solver)
        bodies = [(job.body, each.model.mesh) for job, each in zip(jobs, prepared)]
        owns = [own_surface(*each) for each in bodies]
        self._owns = bodies, owns
        self._meeting = meeting(self._whole, self._colliders, FRICTION, (), owns, self._always_given())
        names = [*(job.body.name for job in jobs), *self._colliders.names]
        first = joined_state([each.first_state() for each in prepared]).positions
        check_apart(self._meeting.barrier.surfaces, self._meeting.surfaces(first), names)

    @property
    def warnings(self) -> list[str]:
        """Sentences, each with a remedy, about what of the bodies does not meet others as it looks."""
        return [words for (body, mesh), own in zip(*self._owns) for words in surface_warnings(body, mesh, own)]

    def _always_given(self) -> np.ndarray:
        """The unknowns that pins never let go of. What becomes free must not have passed through anything before."""
        last = self._lead.frame_count - 1
        return np.concatenate(
            [
                course.body.pins.held_corners(last) + part.vertices.start
                for course, part in zip(self._courses, self._whole.slices)
            ]
        )

    def advance(
        self, states: Sequence[State], at: int, should_stop: Callable[[], bool] = lambda: False
    ) -> tuple[list[State], list[StepReport]]:
        """The states at a frame from those at the one before. Raises Stopped between steps."""
        state, reports, job = joined_state(states), [], self._lead
        substeps = job.body.solver.substeps
        for k in range(1, substeps + 1):
            if should_stop():
                raise Stopped
            part = k / substeps
            changes = [course.go(at, part) for course in self._courses]
            if any(change.any for change in changes):
                self._whole = joined([course.space for course in self._courses])
                pinned, stiffness = (any(getattr(each, name) for each in changes) for name in ("pinned", "stiffness"))
                self._solver.follow(self._whole, pinned, stiffness)
            self._meeting.targets = self._colliders.places(job.frame_count, at, part)
            targets = np.concatenate([course.targets(at, part) for course in self._courses])

            def acting(theta: float, k=k) -> tuple[Load, ...]:
                own = zip(self._courses, self._whole.slices)
                loads = (OfBody(load, *part) for course, part in own for load in course.acting(at, k, theta))
                return *loads, self._meeting

            state, report = self._solver.step(state, targets, job.time_step, acting)
            reports.append(report)
        return states_of(self._whole, state), reports


def simulate_group(
    jobs: Sequence[Job],
    prepared: Sequence[Prepared],
    should_stop: Callable[[], bool] = lambda: False,
) -> Iterator[list[Frame]]:
    """Yield each frame of all bodies, from the first to the last; the reports are those of all together."""
    stepper, first = GroupStepper(jobs, prepared), jobs[0].frame_start
    states = [each.first_state() for each in prepared]
    yield [Frame(first, state, []) for state in states]
    for frame in range(first + 1, jobs[0].frame_end + 1):
        states, reports = stepper.advance(states, frame - first, should_stop)
        yield [Frame(frame, state, reports) for state in states]


def without_colliders(job: Job) -> Job:
    """The job as a body that meets others is prepared: what it runs into is the group's."""
    return job.with_body(colliders=())


def _check(jobs: Sequence[Job]) -> None:
    """SettingsError where jobs cannot be stepped as one."""
    lead = jobs[0]
    for job in jobs:
        if (job.frame_start, job.frame_end, job.frame_rate) != (lead.frame_start, lead.frame_end, lead.frame_rate):
            raise SettingsError(
                f"“{job.body.name}” and “{lead.body.name}” meet, but have unequal frame ranges or rates.",
                "Give them the same.",
            )
        if job.body.solver != lead.body.solver:
            raise SettingsError(
                f"“{job.body.name}” and “{lead.body.name}” meet, but have unequal solver settings.",
                "Give them the same solver, Substeps and Iterations.",
            )
        if not job.body.solver.kind.meets_bodies:
            labels = " or ".join(kind.label for kind in SOLVER_KINDS.values() if kind.meets_bodies)
            raise SettingsError(f"“{job.body.name}” meets others.", f"Choose {labels} for it.")
