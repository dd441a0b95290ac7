"""Solver ConJac [ConJac20]: a few dynamic nodes are integrated in time, and all other vertices follow quasistatically.

The map J from nodes to vertices (:mod:`.conjac_map`) belongs to the tangent K at the step's start x0. The body's
velocities are projected onto J in the mass product. Then a step has three parts, with the displacements u of the nodes:

1. solve ``J^T M J u'' = -J^T K J u + J^T f`` exactly (:mod:`.modal_integration`), and set ``x = x0 + J u``;
2. iterate with Newton's method, line search and fixed nodes, until the forces on all other vertices balance;
3. set the velocities to ``J u'``.

The exact integration dissipates no energy, but neglects the terms of the energy beyond the quadratic ones. Vibrations
are therefore scaled at the end of a step, so that the body has the energy of the linear system. If the energy error is
large, or if there is contact, the step instead minimizes an incremental potential of all vertices, in which only the
nodes have inertia. The step of [ConJac20] is different (:mod:`.conjac_published`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...foundation.errors import FactorizationError
from ...foundation.schema.settings import SolverSettings
from ...mechanics.assembly.tangent_blocks import tangent_blocks
from ...mechanics.energies.kinematics import Deformation
from ...mechanics.energies.tangent import Tangent
from ...mechanics.forces.body_forces import InertiaPotential
from ...mechanics.forces.node_inertia import NodeInertia
from ...mechanics.forces.step_potential import LoadsOrFactory, LowRankPotential
from ...numerics.integrators import backward_euler, bdf2
from ...numerics.linear_solvers.blas import one_blas_thread
from ...numerics.linear_solvers.registry import Choice
from ...numerics.optimization.line_search import backtrack
from ...numerics.optimization.step_report import REDONE_BY, Iteration, StepReport
from ..model.nodes import Nodes, single_vertices
from ..model.state import State
from ..subspaces.space import Space
from .conjac_map import ConJacMap, ReducedSystem, project_mass, project_stiffness, project_vector
from .incremental_potential import IncrementalPotential, NewtonIterate
from .modal_integration import exponential_step
from .newton import NewtonSolver, fallback_step, minimize
from .protocol import check_direction
from .rigid_components import RigidComponent, RigidParts
from .step_solver import StepSolver
from .theta_extrapolation import Solution

QUASISTATIC_MASS = 1e-9
"""Fraction of the mass that vertices keep in quasistatic solves, so that the matrix is not singular."""

MINIMIZATION_MASS = 1e-6
"""Fraction of the mass that vertices keep in a minimization over all vertices, so that the matrix is not singular."""

MIN_ITERATIONS = 30
"""Smallest iteration limit of a minimization over all vertices. A larger ``max_iterations`` replaces this limit."""

LOAD_ROUNDS = 4
"""Largest number of fixed-point iterations for the non-elastic forces at the end of a step."""

REFACTORIZE_ABOVE = 0.1
"""Ratio of two successive Newton decrements above which quasistatic corrections factorise the matrix again."""

ROUND_OFF = 1e-9
"""Energy error that counts as round-off, relative to the sum of the potentials' magnitudes."""

AT_REST = 1e-12
"""Mean squared displacement in a step below which a body counts as at rest, relative to its squared size."""

ENERGY_TOLERANCE = 0.1
"""Largest energy error of an accepted step, relative to the kinetic energy of the linear system."""


class ConJacSolver(StepSolver):
    """Solver ConJac [ConJac20]: integrates a few dynamic nodes in time; all other vertices follow quasistatically.

    Steps without contact are integrated exactly, steps with contact by BDF2, rejected steps by implicit Euler.
    Settings: those of :class:`StepSolver` without ``integrator``. ``max_iterations`` limits quasistatic corrections,
    and minimizations (at least ``MIN_ITERATIONS``). ``tolerance`` also ends iterations for non-elastic forces.
    """

    def __init__(self, model: Space, settings: SolverSettings, linear_solver: Choice | None = None) -> None:
        super().__init__(self._quasistatic_space(model), settings, linear_solver)
        self._set_model(model)
        self.drag = self.mass_damping_load(model)
        self.integrator = bdf2  # stores the previous step in each state

    def follow(self, model: Space, pinned: bool, stiffness: bool) -> None:
        """Replace the body's model. ``pinned``, ``stiffness``: True if pinned unknowns or stiffness changed."""
        super().follow(self._quasistatic_space(model), pinned, stiffness)
        newton = self._newton
        self._set_model(model)
        if newton is not None:
            newton.follow(self._nearly_massless(model), pinned, stiffness)
            self._newton = newton

    def step(
        self, state: State, pin_targets: np.ndarray, time_step: float, loads: LoadsOrFactory = ()
    ) -> tuple[State, StepReport]:
        """Return the state after a step, and its report. Newton FEM computes the step if the matrix is indefinite."""
        self._step_arguments, self._minimized_potential = (pin_targets, time_step, loads), None
        try:
            return self.step_by(backward_euler.begin, state, pin_targets, time_step, loads)
        except FactorizationError:
            return fallback_step(self, state, pin_targets, time_step, loads)

    def _quasistatic_space(self, model: Space) -> Space:
        """Return the model for quasistatic solves: nearly massless, with the nodes' central vertices prescribed."""
        nodes = self._nodes_of(model)
        given = np.union1d(model.pinned, nodes.centres).astype(np.int64)
        return replace(model, masses=QUASISTATIC_MASS * model.masses, pinned=given)

    def _nodes_of(self, model: Space) -> Nodes:
        none = single_vertices(np.zeros(0, dtype=np.int64), model.unknowns)
        return none if model.nodes is None else model.nodes

    def _set_model(self, model: Space) -> None:
        self.model, self._nodes = model, self._nodes_of(model)
        self.inertia = InertiaPotential(0.0 * model.mass)
        self._rigid = RigidParts(model)
        self._bodies = [each.vertices for each in model.slices] or [slice(None)]
        self._newton: NewtonSolver | None = None

    def solve(self, state: State, step: IncrementalPotential, report: StepReport) -> Solution:
        """Return the solution of a step by exact integration of the nodes' motion.

        The incremental potential is minimized instead if there is contact, or if exact integration gains energy.
        """
        with report.timed("local"):
            deformation = self.elastic.deformation(state.positions)
            rigid = self._rigid.components_at(state.positions)
        free = step.without_contact()
        reduced = self._reduced_system(state, deformation, rigid, free, report)
        touches = any(map(step.has_active_contact, (state.positions, self.start(step.time.predicted, step))))
        if not touches:
            end = self._integrated(state, deformation, reduced, rigid, free, report)
            if end is not None and step.is_path_collision_free(state.positions, end.x):
                return end
            report.converged, report.reason = False, ""
        if not touches and end is None:
            end = self._minimized(state, reduced, step, report)
            report.reason += f"{REDONE_BY}Implicit Euler, as the exact motion of the nodes gained energy"
            return end
        pins, h, loads = self._step_arguments
        bdf2_step = self.begin(state, bdf2.begin(state.positions, state.velocities, state.history, h), pins, loads)
        end = self._minimized(state, reduced, bdf2_step, report)
        if step.contact is not None:
            step.contact.collider_positions = bdf2_step.contact.collider_positions
        return end

    def _record_gradient(
        self, at: Solution, state: State, step: IncrementalPotential, report: StepReport
    ) -> np.ndarray:
        """Return the gradient of the minimized potential, (n,3) kg m, and record its norm."""
        return super()._record_gradient(at, state, self._minimized_potential or step, report)

    def _minimized(
        self, state: State, reduced: ReducedSystem, step: IncrementalPotential, report: StepReport
    ) -> Solution:
        """Solve a step by Newton's method over all vertices, in which only the nodes have inertia."""
        time, k = step.time, reduced.map.J.shape[2]
        speeds = reduced.speeds(self.model.mass @ (time.predicted - time.base))
        report.lost = self._lost_energy(reduced, speeds, time.predicted - time.base)
        Y = np.concatenate([self._nodes.means(), reduced.unresolved_momenta], axis=2)
        Y[:, :, k:] -= np.tensordot(Y[:, :, :k], reduced.mass[:k, k:], axes=1)
        inertia = NodeInertia(Y, reduced.mass, time.base, speeds, step.h)
        acting = [*step.potentials, *([step.strain] if step.strain else []), *([inertia] if len(speeds) else [])]
        body, given = self._nearly_massless_newton(), (self.model.pinned, step.prescribed_positions, step.damping)
        potential = IncrementalPotential(body.inertia, self.gravity, self.elastic, tuple(acting), time, *given)
        start = body.initial_iterate(time.base + reduced.T @ speeds, state, potential, report)
        most = max(self.settings.max_iterations, MIN_ITERATIONS)
        body.settings = replace(self.settings, max_iterations=report.iterations + most)
        at = minimize(body, start, potential, report, projected=step.damping is None)
        self._minimized_potential = potential
        report.reason = report.reason or f"the cap of {most} iterations was reached"
        velocities = reduced.T @ inertia.moved(at.x) / step.h
        return Solution(at.x, at.deformation, at.deformation.stretch(), velocities)

    def _nearly_massless_newton(self) -> NewtonSolver:
        """Return the Newton solver in whose model only the nodes have inertia."""
        if self._newton is None:
            self._newton = NewtonSolver(self._nearly_massless(self.model), self.settings, self.linear_solver)
            self._newton.inertia = InertiaPotential(0.0 * self.model.mass)
        return self._newton

    def _nearly_massless(self, model: Space) -> Space:
        return replace(model, masses=MINIMIZATION_MASS * model.masses)

    def _reduced_system(
        self,
        state: State,
        deformation: Deformation,
        rigid: list[RigidComponent],
        step: IncrementalPotential,
        report: StepReport,
        projected: bool = False,
    ) -> ReducedSystem:
        """Return the reduced system of the nodes at a state."""
        ahead = self.start(step.time.predicted, step)
        tangent = self._factorized(ahead, deformation, step, report, projected)
        with report.timed("solve"):
            map_ = ConJacMap(self.system, self.model.elements.nodes, self._nodes, self.model.pinned)
            J = self._rigid.exact(map_.J, self._nodes, rigid)
            unresolved, momenta = self._unresolved_rigid_motions(rigid)
            T = np.concatenate([J, unresolved], axis=2) if unresolved.shape[2] else J
            mass = project_mass(self.model.mass, T)
            stiffness = np.zeros_like(mass)
            k = len(map_.stiffness)
            stiffness[:k, :k] = map_.stiffness - QUASISTATIC_MASS * mass[:k, :k]
            elastic, has_others = stiffness, bool(T.shape[2] and (step.potentials or step.damping is not None))
            by_tets = not any(isinstance(potential, LowRankPotential) for potential in step.potentials)
            if has_others and by_tets and not rigid:  # often few elements
                other = self._other_stiffness(ahead, deformation, step)
                elastic = stiffness - project_stiffness(other, self.model.elements.nodes, T)
            elif has_others:
                hessians = np.empty_like(self.system.hessians)
                tangent_blocks(tangent, step.h**2 * self.elastic.weights, hessians)
                blocks = self.model.elements.matrices(hessians)
                elastic = project_stiffness(blocks, self.model.elements.nodes, T)
                if step.strain is not None and self.system.low_rank is not None:
                    along = self.system.low_rank.vectors.reshape(-1, len(self.system.low_rank.core))
                    along = T.reshape(-1, T.shape[2]).T @ along
                    elastic += along @ self.system.low_rank.core @ along.T
        return ReducedSystem(map_, T, momenta, mass, stiffness, elastic, tangent)

    def _unresolved_rigid_motions(self, rigid: list[RigidComponent]) -> tuple[np.ndarray, np.ndarray]:
        """Return the c rigid motions that leave all nodes at rest, (n,3,c), and their momenta."""
        unresolved = self._rigid.unresolved_motions(self._nodes, rigid)
        return unresolved, (self.model.mass @ unresolved.reshape(len(unresolved), -1)).reshape(unresolved.shape)

    def _factorized(
        self, x: np.ndarray, deformation: Deformation, step: IncrementalPotential, report: StepReport, projected: bool
    ) -> Tangent:
        """Factorise the matrix at x (n,3) m, and return the elastic tangent."""
        for is_projected in step.projections(projected):
            with report.timed("assembly"):
                tangent, added = step.tangent(deformation, is_projected), None
                if step.damping is not None:
                    added = step.damping.condensed(deformation, False, step.h**2)[1]
                low_rank = step.low_rank(deformation)
                self.system.assemble_tangent(tangent, step.h**2, x, step.potentials, added, low_rank)
            with report.timed("factorization"):
                if self.system.try_factorize():
                    report.buckles |= is_projected and not projected
                    return tangent
        raise self.system.error()

    def _integrated(
        self,
        state: State,
        deformation: Deformation,
        reduced: ReducedSystem,
        rigid: list[RigidComponent],
        step: IncrementalPotential,
        report: StepReport,
    ) -> Solution | None:
        """Return a step's solution by exact integration, or None if the body gains too much energy."""
        T, x0, h = reduced.T, state.positions, step.h
        with report.timed("local"):
            speeds = reduced.speeds(self.model.mass @ (h * state.velocities))
            report.lost = self._lost_energy(reduced, speeds, h * state.velocities)
            forces = -project_vector(T, self._elastic_gradient(deformation, step))
            prescribed_dx = np.zeros_like(x0)
            prescribed_dx[self.model.pinned] = step.prescribed_positions - x0[self.model.pinned]
            if prescribed_dx.any():
                stress_change = reduced.tangent.stress_change(self.elastic.delta_F(prescribed_dx))
                prescribed_force = h**2 * self.elastic.nodal_forces(stress_change)
                prescribed_force[self.model.pinned] = 0.0
                prescribed_dx += reduced.newton_step(reduced.map, prescribed_force)
                forces = forces - 0.5 * project_vector(T, prescribed_force)
            u, end_speeds, other_forces = self._flow(state, deformation, reduced, prescribed_dx, speeds, forces, step)
            dx = T @ u + prescribed_dx
            x = x0 + self._rigid.turned(dx, rigid)
        check_direction(dx, 0.0)
        with report.timed("line_search"):
            at = self.evaluate(x, step, deformation)
            first = reduced.map.J.shape[2]
            elastic_dx = dx - T[:, :, first:] @ u[first:]
        gained = T @ (end_speeds - speeds)
        load = self.model.mass @ (gained - self._rigid.without_rigid_motion(gained, rigid))
        at = self._quasistatic_correction(at, reduced, load, step, report, self.settings.max_iterations)
        with report.timed("line_search"):
            flow = u, end_speeds, other_forces
            excess, kinetic = self._energy_balance(state, deformation, at, reduced, flow, (dx, elastic_dx), step)
        unsure = ROUND_OFF * at.magnitude
        if (excess > np.maximum(ENERGY_TOLERANCE * kinetic, unsure)).any():
            return None
        there = self._rigid.components_at(at.x)
        velocities = self._rigid.transported(T @ end_speeds, rigid, there, h**2 * self.gravity.forces)
        for k, rows in enumerate(self._bodies):
            self._rigid.remove_energy(velocities, rows, there, excess[k], kinetic[k], unsure)
        return Solution(at.x, at.deformation, at.deformation.stretch(), velocities / h)

    def _energy_balance(
        self,
        state: State,
        deformation: Deformation,
        at: NewtonIterate,
        reduced: ReducedSystem,
        flow: tuple[np.ndarray, np.ndarray, np.ndarray],
        displacements: tuple[np.ndarray, np.ndarray],
        step: IncrementalPotential,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the energy error and the linear system's kinetic energy at the end of a step, per body, kg m².

        The error is the body's energy minus that of the linear system.
        """
        excess, kinetic, x0 = np.empty(len(self._bodies)), np.empty(len(self._bodies)), state.positions
        for k, rows in enumerate(self._bodies):
            alone, own = np.zeros_like(x0), reduced.columns_of(rows)
            alone[rows] = 1.0
            end = at.value if len(self._bodies) == 1 else self.evaluate(x0 + alone * (at.x - x0), step).value
            dx, elastic_dx = (alone * each for each in displacements)
            u, end_speeds, other_forces = (each[own] for each in flow)
            excess[k] = end - self._energy(state, deformation, reduced, dx, elastic_dx, step) + float(u @ other_forces)
            kinetic[k] = 0.5 * float(end_speeds @ reduced.mass[np.ix_(own, own)] @ end_speeds)
        return excess, kinetic

    def _flow(
        self,
        state: State,
        deformation: Deformation,
        reduced: ReducedSystem,
        prescribed_dx: np.ndarray,
        speeds: np.ndarray,
        forces: np.ndarray,
        step: IncrementalPotential,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the reduced displacements in a step, final speeds, and final non-elastic forces, (k,) each."""
        k = len(speeds)
        b, S_p = np.zeros(k), np.zeros((k, k))
        has_others = k > 0 and (bool(step.potentials) or step.damping is not None)
        elastic = reduced.stiffness
        u = speeds
        for _ in range(LOAD_ROUNDS if has_others else 1):
            if has_others:
                b, S_p = self._other_forces(state, deformation, reduced, prescribed_dx, u, step)
                elastic = reduced.elastic
            before = u
            # One thread: for so small a matrix, synchronization costs hundreds of times the arithmetic.
            with one_blas_thread():
                u, end_speeds = exponential_step(reduced.mass, elastic, speeds, forces, (b, S_p))
            if self.model.max_displacement(reduced.T @ (u - before))[0] <= self.settings.tolerance * self.model.size:
                break
        return u, end_speeds, b - S_p @ u

    def _other_forces(
        self,
        state: State,
        deformation: Deformation,
        reduced: ReducedSystem,
        prescribed_dx: np.ndarray,
        u: np.ndarray,
        step: IncrementalPotential,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Linearize the forces of loads and damping, ``b - S_p u``, about u (k,). Return b (k,) and S_p (k,k)."""
        T, x = reduced.T, state.positions + reduced.T @ u + prescribed_dx
        there = self.elastic.deformation(x, deformation)
        g = step.gradient_at(x, there) - self._elastic_gradient(there, step)
        S_p = project_stiffness(self._other_stiffness(x, there, step), self.model.elements.nodes, T)
        return S_p @ u - project_vector(T, g), S_p

    def _other_stiffness(self, x: np.ndarray, deformation: Deformation, step: IncrementalPotential) -> np.ndarray:
        """Return the stiffness of loads and stretch damping, times the squared step, as blocks (b,3,3)."""
        blocks = np.zeros_like(self.system.blocks)
        for potential in step.potentials:
            potential.add_stiffness(x, step.h**2, blocks)
        if step.damping is not None:
            blocks += self.model.elements.matrices(step.damping.condensed(deformation, False, step.h**2)[1])
        return blocks

    def _energy(
        self,
        state: State,
        deformation: Deformation,
        reduced: ReducedSystem,
        dx: np.ndarray,
        elastic_dx: np.ndarray,
        step: IncrementalPotential,
    ) -> float:
        """Return the linear system's potential energy after displacements dx (n,3) m, kg m².

        ``elastic_dx`` (n,3) m: the part of dx that deforms the body. Loads other than weight contribute only their
        initial energy, since the caller subtracts their work.
        """
        dF, h2 = self.elastic.delta_F(dx), step.h**2
        delta_F_elastic = self.elastic.delta_F(elastic_dx)
        energies = (self.elastic.stress(deformation) * dF).sum(axis=(1, 2))
        energies += 0.5 * (reduced.tangent.stress_change(delta_F_elastic) * delta_F_elastic).sum(axis=(1, 2))
        linear = float(np.sum(self.elastic.weights * energies))
        linear += self.gravity.value(state.positions + dx) - self.gravity.value(state.positions)
        if step.strain is not None:
            linear += float(np.sum(step.strain_gradient(deformation) * dx)) + 0.5 * step.low_rank(deformation).work(dx)
        return step.value(state.positions, deformation)[0] + h2 * linear

    def _lost_energy(self, reduced: ReducedSystem, speeds: np.ndarray, velocities: np.ndarray) -> float:
        """Return the fraction of kinetic energy that is lost if ``speeds`` (k,) replace ``velocities`` (n,3)."""
        before = float(np.sum(velocities * (self.model.mass @ velocities)))
        if before <= AT_REST * self.model.size**2 * float(self.model.lumped_masses.sum()):
            return 0.0
        return max(1.0 - float(speeds @ reduced.mass @ speeds) / before, 0.0)

    def _elastic_gradient(self, deformation: Deformation, step: IncrementalPotential) -> np.ndarray:
        """Return the gradient of elastic, strain and gravity potentials, times the squared step, (n,3) kg m."""
        stress = self.elastic.stress(deformation)
        if step.strain is not None:
            stress = stress + step.strain.forces(*self.elastic.strained(deformation))
        g = step.h**2 * (self.elastic.nodal_forces(stress) + self.gravity.gradient())
        g[self.model.pinned] = 0.0
        return g

    def _quasistatic_correction(
        self,
        at: NewtonIterate,
        reduced: ReducedSystem,
        load: np.ndarray,
        step: IncrementalPotential,
        report: StepReport,
        most: int,
        refactorizes: bool = True,
    ) -> NewtonIterate:
        """Iterate until the forces on quasistatic vertices balance a ``load`` (n,3) kg m."""
        map_, last, most = reduced.map, np.inf, most + report.iterations
        while not report.reason and report.iterations < most:
            with report.timed("assembly"):
                whole = step.gradient_at(at.x, at.deformation)
                g = whole + load
            with report.timed("solve"):
                dx = reduced.newton_step(map_, g)
            if refactorizes and -float((g * dx).sum()) > REFACTORIZE_ABOVE * last:
                self._factorized(at.x, at.deformation, step, report, projected=False)
                map_ = ConJacMap(self.system, self.model.elements.nodes, self._nodes, self.model.pinned)
                # Rigid motions that leave the nodes at rest have no stiffness, and changed since the step's beginning.
                unresolved, momenta = self._unresolved_rigid_motions(self._rigid.components_at(at.x))
                T = np.concatenate([reduced.map.J, unresolved], axis=2)
                reduced = reduced._replace(T=T, unresolved_momenta=momenta)
                dx = reduced.newton_step(map_, g)
            last = decrement = -float((g * dx).sum())
            check_direction(dx, decrement)

            def merit(alpha: float, at=at, dx=dx) -> tuple[float, float, NewtonIterate]:
                trial = self.evaluate(at.x + alpha * dx, step, at.deformation)
                return trial.value + alpha * float((load * dx).sum()), trial.magnitude, trial

            with report.timed("line_search"):
                alpha, accepted = backtrack(merit, at.value, at.magnitude, -decrement)
            size = self.model.max_displacement(dx)[0]
            iteration = Iteration(float(np.linalg.norm(g)), decrement, decrement, alpha, alpha * size)
            self.check_convergence(report, iteration, size, step.h, at.magnitude, accepted is not None)
            at = accepted or at
        return at
