"""Bodies that meet, stepped as one from frame to frame: each is prepared as alone, and keeps its own pins, loads and
changes; they share the solver's settings, its steps, and what keeps them apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from ..body.gathering import Gathering
from ..body.meeting_surfaces import OwnSurface
from ..body.prepare import Prepared, Stopped
from ..errors import CorruptFrameError, SettingsError, VertexError
from ..forces.of_body import OfBody
from ..forces.step_potential import Load
from ..integrators.time_step import History
from ..job.groups import check_group
from ..job.job import Job
from ..model.joined import joined, joined_state, states_of
from ..model.state import State
from ..optimization.report import StepReport
from ..solvers import make_solver
from ..subspaces.joined_subspaces import following, joined_subspaces
from ..subspaces.space import Space
from .course import Course
from .run import Frame, simulate


class GroupStepper:
    """Steps prepared jobs of one body each as one; frames are counted from the first as 0. ``growths``: how bodies grow
    that begin shrunk, by their numbers.

    SettingsError where they do not go together.
    """

    def __init__(self, jobs: Sequence[Job], prepared: Sequence[Prepared]) -> None:
        check_group(jobs)
        self._lead = jobs[0]
        self._gathering = Gathering(jobs, prepared)
        self._colliders = self._gathering.colliders
        self.growths, self._prepared = self._gathering.growths, list(prepared)
        for k, growth in self.growths.items():
            self._prepared[k] = growth.held(prepared[k], self._lead.frame_count)
        loads = [each.loads.without(met) for each, met in zip(prepared, self._gathering.kept_off)]
        self._courses = [Course(job, replace(each, loads=own)) for job, each, own in zip(jobs, self._prepared, loads)]
        _check_matches(jobs, self._courses)
        self._whole = _joined(self._courses, {})
        settings, self._sizes = self._lead.body.solver, self._sizes_at(self._lead.pre_roll)
        self._solver = make_solver(self._whole, settings, prepared[0].linear_solver)
        # A part of a step, where it is solved and then extrapolated, is to have the size that it has there.
        self._theta = settings.theta if "theta" in self._solver.integrator.OWN else 1.0
        self._meeting = self._gathering.meeting(self._whole)

    @property
    def warnings(self) -> list[str]:
        """Sentences, each with a remedy, about what of the bodies does not meet others as it looks."""
        return self._gathering.warnings

    @property
    def move(self) -> tuple[str, tuple[float, ...]] | tuple[()]:
        """As of ``errors.OverlapError``, where a body begins in a collider."""
        return self._gathering.move

    @property
    def surfaces(self) -> list[OwnSurface]:
        """Of each body, what touches."""
        return self._gathering.owns

    @property
    def let_through(self) -> list[np.ndarray]:
        """Of each body, pairs of vertices of its surface that never meet, (k,2), since it touches itself there."""
        return self._gathering.let_through

    def first_states(self) -> list[State]:
        """Where each body begins."""
        states = [each.first_state() for each in self._prepared]
        for k, growth in self.growths.items():
            states[k] = replace(states[k], positions=growth.placed(states[k].positions, growth.begin))
        return states_of(self._whole, self._growing(joined_state(states), 0.0))

    def pressures(self, states: Sequence[State]) -> list[np.ndarray]:
        """Contact pressure at each body's render vertices at the end of a frame, (n,) Pa."""
        shown = [each.surface(state.positions) for each, state in zip(self._prepared, states)]
        return self._gathering.pressures(self._meeting, joined_state(states).positions, shown)

    def advance(
        self, states: Sequence[State], at: int, should_stop: Callable[[], bool] = lambda: False
    ) -> tuple[list[State], list[StepReport]]:
        """The states at a frame from those at the one before. Raises Stopped between steps."""
        state, reports, job, meeting = joined_state(states), [], self._lead, self._meeting
        if states[0].colliders is not None:
            if states[0].colliders.shape[1] != len(meeting.places):
                raise CorruptFrameError("A saved state is of other colliders.", "Bake from the start.")
            meeting.places, meeting.earlier = states[0].colliders
        substeps = job.body.solver.substeps
        for k in range(1, substeps + 1):
            if should_stop():
                raise Stopped
            part, sizes = k / substeps, self._sizes_at(at - 1.0 + (k - 1.0 + self._theta) / substeps)
            changes, resized = [course.go(at, part) for course in self._courses], sizes != self._sizes
            if resized or any(change.any for change in changes):
                self._sizes, self._whole = sizes, _joined(self._courses, sizes, self._whole)
                pinned, stiffness = (any(getattr(each, name) for each in changes) for name in ("pinned", "stiffness"))
                self._solver.follow(self._whole, resized or pinned, resized or stiffness)
            meeting.targets = self._colliders.places(job.frame_count, at, part)
            targets = np.concatenate([course.targets(at, part) for course in self._courses])

            def acting(theta: float, k=k) -> tuple[Load, ...]:
                return *self._acting(at, k, theta), meeting

            try:
                state, report = self._solver.step(state, targets, job.time_step, acting)
            except VertexError as error:
                raise self._of_body(error) from error
            way = np.zeros_like(state.positions)
            way[self._whole.pinned] = targets - state.positions[self._whole.pinned]
            self._gathering.note(report, meeting, state.positions, way)
            reports.append(report)
            if self.growths and at <= job.pre_roll:
                state = self._growing(state, at - 1.0 + part)
        if len(self._courses) == 1:
            self._courses[0].note(reports[-1], state.positions)
        first, *others = states_of(self._whole, state)
        return [replace(first, colliders=np.array([meeting.places, meeting.earlier])), *others], reports

    def _sizes_at(self, time: float) -> dict[int, float]:
        """Of their own, of the shapes at rest that grow, at a time in frames from the first."""
        return {k: float(growth.size(time)) for k, growth in self.growths.items()}

    def _growing(self, state: State, time: float) -> State:
        """A state at a time, in frames from the first, in which what grows moves as it does, and did so before."""
        x, v, before, h = state.positions, state.velocities.copy(), state.history, self._lead.time_step
        grows, step = np.zeros((len(x), 1), dtype=bool), 1.0 / self._lead.body.solver.substeps
        for k, growth in self.growths.items():
            own, masses = self._whole.slices[k].vertices, self._prepared[k].model.lumped_masses
            v[own], grows[own] = growth.velocities(x[own], masses, time, step, h), True
        if before is not None:
            came = np.where(grows, x - h * v, before.positions)
            before = History(came, np.where(grows, v, before.velocities), before.time_step)
        return replace(state, velocities=v, history=before)

    def _acting(self, at: int, substep: int, theta: float) -> Iterator[Load]:
        """What acts on each body in a substep."""
        for course, part in zip(self._courses, self._whole.slices):
            for load in course.acting(at, substep, theta):
                yield load if len(self._courses) == 1 else OfBody(load, *part)

    def _of_body(self, error: VertexError) -> VertexError:
        """An error at a vertex of the whole, or at an unknown of a subspace, with the body that it is of."""
        if error.vertex is None:
            return error
        spaces = [course.space for course in self._courses]
        sizes = [space.unknowns for space in spaces]
        if sum(sizes) != error.among:
            sizes = [len(space.mesh.rest_positions) for space in spaces]
        ends = np.cumsum(sizes)
        body = int(np.searchsorted(ends, error.vertex, side="right"))
        return error.of(self._gathering.names[body], error.vertex - int(ends[body]) + sizes[body])


def _joined(courses: Sequence[Course], sizes: dict[int, float], before: Space | None = None) -> Space:
    """The bodies as they are now in one space, some with a shape at rest of ``sizes`` of their own; in subspaces, what
    they were ``before`` with what is other.
    """
    spaces = [course.space for course in courses]
    if not spaces[0].is_reduced:
        return joined([space.shrunk(sizes[k]) if sizes.get(k, 1.0) < 1.0 else space for k, space in enumerate(spaces)])
    if before is not None:
        return following(before, spaces)
    subspaces = [replace(course.body.subspace, model=space) for course, space in zip(courses, spaces)]
    return joined_subspaces(joined([course.body.model for course in courses]), subspaces)


def _check_matches(jobs: Sequence[Job], courses: Sequence[Course]) -> None:
    """SettingsError where a match is a potential, of which a step has one alone."""
    for job, course in zip(jobs, courses) if len(jobs) > 1 else ():
        # It is of vibrations as they are controlled at a frame.
        course.go(min(1, job.frame_count - 1), 1.0)
        if course.is_matched_by_potential:
            raise SettingsError(
                f"“{job.body.name}” meets others, and is made to swing as a finer body by a potential.",
                "Set Match Method to Fitted Materials and turn Control Vibrations off, or turn off the match.",
            )


def simulate_group(
    jobs: Sequence[Job],
    prepared: Sequence[Prepared],
    start: tuple[int, Sequence[State]] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    begun: Callable[[GroupStepper], None] = lambda _stepper: None,
) -> Iterator[list[Frame]]:
    """Yield each frame of all bodies, from the first, or from after ``start`` (a frame and their states), to the last;
    the reports are those of all together. ``begun`` is called with what steps them before the first step. A body that
    meets nothing goes as alone (:func:`simulate`), and so goes on what was played live.
    """
    was_played = start is not None and start[0] > jobs[0].frame_start and start[1][0].colliders is None
    if not meet(jobs) or (was_played and len(jobs) == 1):
        alone = start and (start[0], start[1][0])
        yield from ([frame] for frame in simulate(jobs[0], prepared[0], alone, should_stop))
        return
    stepper, first = GroupStepper(jobs, prepared), jobs[0].frame_start
    begun(stepper)
    number, states = start or (first, stepper.first_states())
    if start is None:
        yield [Frame(first, state, []) for state in states]
    elif was_played:
        raise CorruptFrameError("A saved state does not tell where colliders are.", "Bake from the start.")
    for frame in range(number + 1, jobs[0].frame_end + 1):
        states, reports = stepper.advance(states, frame - first, should_stop)
        pressures = stepper.pressures(states)
        yield [Frame(frame, state, reports, pressure) for state, pressure in zip(states, pressures)]


def meet(jobs: Sequence[Job]) -> bool:
    """Whether anything of bodies that are baked together meets: they one another, or one itself, or what it runs into,
    where its solver can.
    """
    body = jobs[0].body
    return len(jobs) > 1 or body.meets.itself or bool(body.colliders and body.solver.kind.meets_bodies)
