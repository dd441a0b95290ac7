"""Time stepping of bodies with IPC contact: with each other, with themselves, or with colliders.

Each body is prepared separately and has its own pins, loads and keyframed stiffness. All bodies share the solver
settings, the time steps and the contact. Bodies that can touch within a step are solved as one system, an island
(:mod:`.islands`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import replace

import numpy as np

from ...foundation.errors import CorruptFrameError, SettingsError, VertexError
from ...jobs.job.groups import check_group
from ...jobs.job.job import Job
from ...mechanics.forces.step_potential import Load
from ...mechanics.forces.submodel_load import SubmodelLoad
from ...methods.model.merged_model import merge_models, merge_states, split_state
from ...methods.model.state import State
from ...methods.solvers import make_solver
from ...methods.subspaces.merged_subspaces import following, merge_subspaces
from ...methods.subspaces.space import Space
from ...numerics.integrators.registry import integrator
from ...numerics.integrators.time_step import History
from ...numerics.optimization.step_report import StepReport
from ..contact_setup.collision_surfaces import CollisionSurface
from ..contact_setup.contact_group import ContactGroup
from ..preparation.prepare import Prepared, Stopped
from ..tie_setup.group_chambers import GroupChambers
from ..tie_setup.group_joints import GroupJoints
from ..tie_setup.group_ties import GroupTies
from .body_timeline import BodyTimeline
from .islands import Bodies, Island, IslandSolution, Sweep, solve_islands
from .single_body import Frame, simulate_body


class GroupStepper:
    """Time stepper of several prepared bodies in contact, with one job per body.

    Frames are counted from 0. Raises SettingsError if the jobs are not compatible.

    ``growths``: growth (:mod:`.overlap_growth`) of each body that begins shrunk, by index of the body.
    """

    def __init__(self, jobs: Sequence[Job], prepared: Sequence[Prepared]) -> None:
        check_group(jobs)
        self._lead = jobs[0]
        self._gathering = ContactGroup(jobs, prepared)
        self._colliders = self._gathering.colliders
        self.growths, self._prepared = self._gathering.growths, list(prepared)
        for k, growth in self.growths.items():
            self._prepared[k] = growth.held(prepared[k], self._lead.frame_count)
        loads = [each.loads.without(met) for each, met in zip(prepared, self._gathering.barrier_colliders)]
        self._courses = [
            BodyTimeline(job, replace(each, loads=own)) for job, each, own in zip(jobs, self._prepared, loads)
        ]
        _check_matches(jobs, self._courses)
        settings, self._sizes = self._lead.body.solver, self._sizes_at(self._lead.pre_roll)
        # The theta-midpoint rule solves a fraction of a step and extrapolates: bodies have the size at that fraction.
        extrapolates = settings.kind.integrates and "theta" in integrator(settings.integrator).OWN
        self._theta = settings.theta if extrapolates else 1.0
        self._ties = GroupTies(jobs, prepared, self._colliders)
        self._joints = GroupJoints(jobs, prepared, self._colliders)
        self._chambers = GroupChambers(jobs, prepared)
        self._attached = self._ties.pairs | self._joints.pairs | self._chambers.pairs
        self._seams = {k: each.loads.seams for k, each in enumerate(prepared) if each.loads.seams is not None}
        self._tears = any(seams.tears for seams in self._seams.values())
        self._broken: np.ndarray | None = None
        self._barriers = self._gathering.barriers
        self._islands: dict[Bodies, Island] = {}
        self._last: list[Bodies] = [tuple(range(len(jobs)))]
        self._positions = self._earlier = self._colliders.initial_positions

    @property
    def warnings(self) -> list[str]:
        """Warnings about collision surfaces and colliders, each with a remedy."""
        return self._gathering.warnings

    @property
    def separation(self) -> tuple[str, tuple[float, ...]] | tuple[()]:
        """Displacement that moves the first body inside a collider out of the collider.

        The result is a tuple of the body's name and the displacement (x, y, z), m, as in ``errors.OverlapError.move``.
        The tuple is empty if no body begins inside a collider.
        """
        return self._gathering.separation

    @property
    def surfaces(self) -> list[CollisionSurface]:
        """Collision surface of each body."""
        return self._gathering.owns

    @property
    def excluded_pairs(self) -> list[np.ndarray]:
        """Vertex pairs that are excluded from self-contact: one array (k,2) per body.

        At these vertices of its collision surface the body touches or intersects itself at rest or at the first frame.
        """
        return self._gathering.excluded_pairs

    def first_states(self) -> list[State]:
        """Return the state of each body at the first frame."""
        states = [each.first_state() for each in self._prepared]
        for k, growth in self.growths.items():
            states[k] = replace(states[k], positions=growth.placed(states[k].positions, growth.begin))
        return self._growing(states, 0.0)

    def pressures(self, states: Sequence[State]) -> list[np.ndarray]:
        """Return the contact pressures at the render vertices: one array (n,), Pa, per body.

        ``states``: states of the bodies at the end of a frame.
        """
        found: dict[int, np.ndarray] = {}
        for bodies in self._last:
            meeting, own = self._island(bodies).meeting, [states[k] for k in bodies]
            shown = [self._prepared[k].surface(state.positions) for k, state in zip(bodies, own)]
            positions = np.concatenate([state.positions for state in own])
            found |= zip(bodies, self._gathering.pressures(meeting, positions, bodies, shown))
        return [found[k] for k in range(len(states))]

    def advance(
        self, states: Sequence[State], at: int, should_stop: Callable[[], bool] = lambda: False
    ) -> tuple[list[State], list[list[StepReport]]]:
        """Return the states at a frame and the reports of the substeps.

        Both results have one entry per body: the state, and a list with the report of each substep. Raises Stopped
        between steps if ``should_stop`` returns True. Raises CorruptFrameError if ``states`` belong to other colliders.

        ``states``: states at the frame before.
        ``at``: the frame, counted from 0.
        """
        if states[0].colliders is not None:
            if states[0].colliders.shape[1] != len(self._positions):
                raise CorruptFrameError("A saved state belongs to other colliders.", "Bake from the start.")
            self._positions, self._earlier = states[0].colliders
        self._broken = states[0].broken
        states = [replace(states[0], colliders=None, broken=None), *states[1:]]  # only the first stores those
        reports: list[list[StepReport]] = [[] for _ in states]
        substeps = self._lead.body.solver.substeps
        for k in range(1, substeps + 1):
            self._set_torn()
            self._follow(at, k)
            solved = self._solved(states, at, k, should_stop)
            for bodies, (own, report, _positions) in solved.items():
                for body, state in zip(bodies, own):
                    others = [self._gathering.names[other] for other in bodies if other != body]
                    states[body], own_report = state, copy(report)
                    own_report.solved_with = others
                    reports[body].append(own_report)
            self._broken = self._ties.broken_after(states, at, k / substeps, self._broken)
            self._tear(states, at, k / substeps)
            if self.growths and at <= self._lead.pre_roll:
                states = self._growing(states, at - 1.0 + k / substeps)
        if len(self._courses) == 1:
            self._courses[0].report_match(reports[0][-1], states[0].positions)
        of_group = {"colliders": np.array([self._positions, self._earlier]), "broken": self._broken}
        return [replace(states[0], **of_group), *states[1:]], reports

    def _tear(self, states: Sequence[State], at: int, part: float) -> None:
        """Tear the springs of seams under too much stress, at the end of a substep."""
        if not self._tears:
            return
        ties = np.zeros(self._ties.count) if self._broken is None else self._broken[: self._ties.count]
        torn = (seams.broken_after(states[k].positions, at, part) for k, seams in self._seams.items())
        self._broken = np.concatenate([ties, *torn])

    def _set_torn(self) -> None:
        """Set the torn springs of seams, which follow the broken samples of ties in ``State.broken``."""
        start = self._ties.count
        for seams in self._seams.values() if self._tears else ():
            seams.broken = None if self._broken is None else self._broken[start : start + seams.count]
            start += seams.count

    def _follow(self, at: int, substep: int) -> None:
        """Set pins, stiffness and the sizes of growing bodies for a substep, and update the islands."""
        substeps = self._lead.body.solver.substeps
        sizes = self._sizes_at(at - 1.0 + (substep - 1.0 + self._theta) / substeps)
        resized = {k for k, size in sizes.items() if size != self._sizes[k]}
        self._sizes, changes = sizes, [course.advance_to(at, substep / substeps) for course in self._courses]
        for bodies, island in self._islands.items():
            own, grown = [changes[k] for k in bodies], not resized.isdisjoint(bodies)
            if grown or any(change.any for change in own):
                island.space = self._space(bodies, island.space)
                pinned, stiffness = (any(getattr(each, name) for each in own) for name in ("pinned", "stiffness"))
                island.solver.follow(island.space, grown or pinned, grown or stiffness)

    def _solved(
        self, states: Sequence[State], at: int, substep: int, should_stop: Callable[[], bool]
    ) -> dict[Bodies, IslandSolution]:
        """Return the solution of each island for a substep."""
        part, surface_at = substep / self._lead.body.solver.substeps, self._gathering.surface_at
        targets, predicted = [course.pin_targets(at, part) for course in self._courses], []
        for k, (course, state) in enumerate(zip(self._courses, states)):
            ahead = state.positions + self._lead.time_step * state.velocities
            ahead[course.space.pinned] = targets[k]
            predicted.append(surface_at(k, ahead))
        start = [*(surface_at(k, state.positions) for k, state in enumerate(states)), self._positions]
        arriving = self._colliders.positions_at(self._lead.frame_count, at, part)
        sweep = Sweep(np.concatenate(start), self._barriers.surfaces.body_ids, arriving)
        used = set()

        def solve(bodies: Bodies) -> IslandSolution:
            if should_stop():
                raise Stopped
            used.add(bodies)
            return self._step(bodies, states, targets, arriving, at, substep)

        solved, positions = solve_islands(self._barriers, sweep, predicted, surface_at, solve, self._attached)
        # Islands of earlier steps are dropped, because each holds a factorization.
        self._last, self._islands = list(solved), {each: self._islands[each] for each in self._islands if each in used}
        self._positions, self._earlier = positions, self._positions
        for bodies in solved:
            self._islands[bodies].meeting.collider_positions = positions
        return solved

    def _step(
        self,
        bodies: Bodies,
        states: Sequence[State],
        targets: Sequence[np.ndarray],
        arriving: np.ndarray,
        at: int,
        substep: int,
    ) -> IslandSolution:
        """Return the solution of a substep for the island of some bodies."""
        island, state = self._island(bodies), merge_states([states[k] for k in bodies])
        meeting, space, given = island.meeting, island.space, np.concatenate([targets[k] for k in bodies])
        meeting.collider_positions, meeting.previous_collider_positions, meeting.targets = (
            self._positions,
            self._earlier,
            arriving,
        )

        part = substep / self._lead.body.solver.substeps

        def acting(theta: float) -> tuple[Load, ...]:
            ties = self._ties.loads(space, bodies, at, part, self._broken)
            joints = self._joints.loads(space, bodies, at, part)
            chambers = self._chambers.loads(space, bodies, at, part)
            return *self._acting(island, bodies, at, substep, theta), *ties, *joints, *chambers, *island.loads

        try:
            state, report = island.solver.step(state, given, self._lead.time_step, acting)
        except VertexError as error:
            raise self._of_body(error, bodies) from error
        displacement = np.zeros_like(state.positions)
        displacement[space.pinned] = given - state.positions[space.pinned]
        self._gathering.report_contacts(report, meeting, state.positions, displacement)
        return IslandSolution(split_state(space, state), report, meeting.collider_positions)

    def _island(self, bodies: Bodies) -> Island:
        """Return the island of some bodies, reused from the last step or created."""
        if bodies not in self._islands:
            space = self._space(bodies)
            solver = make_solver(space, self._lead.body.solver, self._prepared[bodies[0]].linear_solver)
            self._islands[bodies] = Island(space, solver, self._gathering.contact_load(space, bodies))
        return self._islands[bodies]

    def _space(self, bodies: Bodies, before: Space | None = None) -> Space:
        """Return the merged space of some bodies, with their present pins, stiffness and sizes."""
        courses = [self._courses[k] for k in bodies]
        spaces = [course.space for course in courses]
        if not spaces[0].is_reduced:
            sizes = [self._sizes.get(k, 1.0) for k in bodies]
            return merge_models(
                [space.scaled_down(size) if size < 1.0 else space for space, size in zip(spaces, sizes)]
            )
        if before is not None:
            return following(before, spaces)
        subspaces = [replace(course.body.subspace, model=space) for course, space in zip(courses, spaces)]
        return merge_subspaces(merge_models([course.body.model for course in courses]), subspaces)

    def _sizes_at(self, time: float) -> dict[int, float]:
        """Return the size of each growing body relative to its full size, by index of the body."""
        return {k: float(growth.size(time)) for k, growth in self.growths.items()}

    def _growing(self, states: Sequence[State], time: float) -> list[State]:
        """Return the states, with the velocities of growing bodies set to those of the growth."""
        states, h, step = list(states), self._lead.time_step, 1.0 / self._lead.body.solver.substeps
        for k, growth in self.growths.items():
            x, before = states[k].positions, states[k].history
            v = growth.velocities(x, self._prepared[k].model.lumped_masses, time, step, h)
            if before is not None:
                before = History(x - h * v, v, before.time_step)
            states[k] = replace(states[k], velocities=v, history=before)
        return states

    def _acting(self, island: Island, bodies: Bodies, at: int, substep: int, theta: float) -> Iterator[Load]:
        """Yield the loads on all bodies of an island, evaluated at the fraction ``theta`` of a substep."""
        for k, part in zip(bodies, island.space.slices):
            for load in self._courses[k].loads_at(at, substep, theta):
                yield load if len(bodies) == 1 else SubmodelLoad(load, part.vertices, part.blocks)

    def _of_body(self, error: VertexError, bodies: Bodies) -> VertexError:
        """Return an error of an island with the name of the body at fault and the vertex index within it."""
        if error.vertex is None:
            return error
        spaces = [self._courses[k].space for k in bodies]
        sizes = [space.unknowns for space in spaces]
        if sum(sizes) != error.among:
            sizes = [len(space.mesh.rest_positions) for space in spaces]
        ends = np.cumsum(sizes)
        body = int(np.searchsorted(ends, error.vertex, side="right"))
        return error.of(self._gathering.names[bodies[body]], error.vertex - int(ends[body]) + sizes[body])


def _check_matches(jobs: Sequence[Job], courses: Sequence[BodyTimeline]) -> None:
    """Raise SettingsError if one of several bodies has a potential that corrects its vibrations.

    A correction matches the vibrations to those of a more accurate model, or scales the stiffness of single vibrations.
    """
    for job, course in zip(jobs, courses) if len(jobs) > 1 else ():
        # The factors of controlled vibrations are set only once the timeline is at a frame.
        course.advance_to(min(1, job.frame_count - 1), 1.0)
        if course.is_matched_by_potential:
            raise SettingsError(
                f"“{job.body.name}” collides with other bodies, so no potential can match or control its vibrations.",
                "Set Match Method to Fitted Materials and turn Control Vibrations off, or turn off the match.",
            )


def simulate_group(
    jobs: Sequence[Job],
    prepared: Sequence[Prepared],
    start: tuple[int, Sequence[State]] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    begun: Callable[[GroupStepper], None] = lambda _stepper: None,
) -> Iterator[list[Frame]]:
    """Yield the simulated frames, as a list with one :class:`Frame` per body.

    Two kinds of bodies are simulated by :func:`simulate_body`: a body without IPC contact, and a single body whose
    ``start`` was recorded in live mode.

    ``start``: a frame number with the state of each body at that frame, or None. Only later frames are simulated. With
    None, all frames are.
    ``begun``: function that is called with the :class:`GroupStepper` before the first step. :func:`simulate_body` does
    not call this function.

    Raises CorruptFrameError if a ``start`` of several bodies was recorded in live mode.
    """
    was_played = start is not None and start[0] > jobs[0].frame_start and start[1][0].colliders is None
    if not any_contact(jobs) or (was_played and len(jobs) == 1):
        alone = start and (start[0], start[1][0])
        yield from ([frame] for frame in simulate_body(jobs[0], prepared[0], alone, should_stop))
        return
    stepper, first = GroupStepper(jobs, prepared), jobs[0].frame_start
    begun(stepper)
    number, states = start or (first, stepper.first_states())
    if start is None:
        yield [Frame(first, state, []) for state in states]
    elif was_played:
        raise CorruptFrameError("A saved state has no positions of colliders.", "Bake from the start.")
    for frame in range(number + 1, jobs[0].frame_end + 1):
        states, reports = stepper.advance(states, frame - first, should_stop)
        pressures = stepper.pressures(states)
        yield [Frame(frame, *each) for each in zip(states, reports, pressures)]


def any_contact(jobs: Sequence[Job]) -> bool:
    """Return True if bodies baked together can be in IPC contact.

    The contact may be with each other, with themselves, or with colliders. Contact with colliders counts only if the
    solver supports IPC contact. Ties, joints, shared chambers and seams that may tear count, too.
    """
    body = jobs[0].body
    return (
        len(jobs) > 1
        or bool(body.ties or body.joints)
        or (body.chamber is not None and bool(body.chamber.shared))
        or (body.seams is not None and body.seams.tears)
        or body.contact.self_contact
        or bool(body.colliders and body.solver.kind.supports_contact)
    )
