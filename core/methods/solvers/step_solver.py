"""Base class of the solvers: incremental potential, linear system, pins and stop rules of a step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ...foundation.errors import DivergenceError, FactorizationError
from ...foundation.schema.settings import SolverSettings
from ...mechanics.energies.kinematics import Deformation
from ...mechanics.forces.body_forces import GravityPotential, InertiaPotential
from ...mechanics.forces.mass_damping import MassDamping
from ...mechanics.forces.step_potential import Load, LoadsOrFactory, Motion
from ...numerics.integrators import backward_euler, bdf2, statics
from ...numerics.integrators.registry import integrator
from ...numerics.integrators.time_step import History, TimeStep
from ...numerics.linear_solvers.registry import Choice
from ...numerics.optimization.step_report import Iteration, StepReport
from ..model.state import State
from ..subspaces.space import Space
from .active_set_qp import QPSolution, solve_active_set_qp
from .incremental_potential import MAX_LAGGING_ITERATIONS, IncrementalPotential, NewtonIterate
from .kinematic_targets import PinExtension, advance_prescribed_motion
from .protocol import check_finite
from .stretch_damping import StretchDamping
from .theta_extrapolation import Solution, extrapolate_theta_step

ROUND_OFF_DECREMENT = 1e-9
"""Predicted decrease that counts as round-off, relative to the sum of the absolute values of the merit's terms."""

BLOWUP_DISTANCE = 1e3
"""Largest distance of a vertex from its predicted position in a plausible step, in body sizes."""


class StepSolver:
    """Base class of the solvers, which advance a body by minimizing an incremental potential per step.

    "Positions" (n,3) are the unknowns of the space: the positions of all vertices, or the few unknowns of a subspace,
    where cubature points replace the tets. All methods work in both spaces. In a subspace, an iteration of Mixed FEM is
    [SubMFEM23] Eq. 6, and its local step is Eqs. 7, 8.

    Settings: ``integrator`` (with ``theta``); ``gravity``, m/s²; ``max_iterations``; ``stop_rule`` and its tolerance
    (``tolerance``, relative to the body's size, ``decrement_tolerance``, J, or ``acceleration_tolerance``, m/s²);
    ``mass_damping``, 1/s; ``stiffness_damping``, s; ``linear_solver``.
    """

    keeps_projection = False
    """True if Hessians stay projected while convergence stagnates, since the linear solver needs a definite matrix."""

    def __init__(self, model: Space, settings: SolverSettings, linear_solver: Choice | None = None) -> None:
        self.model = model
        self.settings = settings
        self.elastic = model.elastic
        self.inertia = InertiaPotential(model.mass)
        self.gravity = GravityPotential(model.lumped_masses, np.asarray(settings.gravity))
        self.integrator = integrator(settings.integrator)
        own = {name: getattr(settings, name) for name in self.integrator.OWN}
        self._rule = partial(self.integrator.begin, **own)
        self.drag = self.mass_damping_load(model)
        self.linear_solver = linear_solver
        self._extension: PinExtension | None = None
        self.system = self.linear_system(model)

    def linear_system(self, model: Space) -> Any:
        """Return the linear system of a model, for the settings of the solver."""
        return model.linear_system(self.settings, self.linear_solver)

    def mass_damping_load(self, model: Space) -> tuple[Load, ...]:
        """Return the mass-proportional damping of the model as a tuple of loads, empty without damping."""
        drag = 0.0 if self.settings.integrator == statics.NAME else self.settings.mass_damping
        return (MassDamping(model.mass, model.stiffness(None, drag), drag),) if drag else ()

    def follow(self, model: Space, pinned: bool, stiffness: bool) -> None:
        """Replace the model by another one of the same body.

        ``pinned``: True if the set of prescribed unknowns changed. ``stiffness``: True if the elastic stiffness
        changed.
        """
        self.model, self.elastic, self._extension = model, model.elastic, None
        if pinned:
            del self.system  # frees the old factor before the new one is allocated
            self.system = self.linear_system(model)
        elif stiffness:
            self.system.follow(model.elastic.shear_modulus)
        self.system.flow(model.elastic)

    def step(
        self, state: State, pin_targets: np.ndarray, time_step: float, loads: LoadsOrFactory = ()
    ) -> tuple[State, StepReport]:
        """Return the state after a step of ``time_step`` s, and the step's report.

        ``pin_targets`` (p,3), m: positions of the pinned vertices at the end of the step. If the time integration rule
        rejects the step, the step is repeated with another rule. The other rule is BDF2 if the iterations of the
        rejected step converged, else implicit Euler.
        """
        with self.model.blas_threads():
            new, report = self.step_by(self._rule, state, pin_targets, time_step, loads)
            if new is None:
                rule = bdf2 if report.converged else backward_euler
                new, replacing = self.step_by(rule.begin, state, pin_targets, time_step, loads)
                report = replacing.instead_of(report, rule.LABEL)
            return replace(new, slow_steps=self.system.slow_steps(state.slow_steps)), report

    def step_by(
        self,
        rule: Callable[..., TimeStep],
        state: State,
        pin_targets: np.ndarray,
        time_step: float,
        loads: LoadsOrFactory,
    ) -> tuple[State | None, StepReport]:
        """Return the state after a step with the time integration rule ``rule``, and the step's report.

        The state is None if the step is rejected, and must be repeated with another rule.
        """
        report = StepReport(self.settings.solver)
        time = rule(state.positions, state.velocities, state.history, time_step)
        step = self.begin(state, time, pin_targets, loads)
        at = self.solve(state, step, report)
        gradient = self._record_gradient(at, state, step, report)
        if time.theta < 1.0:
            left, targets = None if report.converged else gradient, pin_targets
            if report.blocked:
                targets = time.extrapolated(state.positions[self.model.pinned], step.prescribed_positions)
            new = extrapolate_theta_step(state, at, left, step, self.model, targets)
            if new is not None:
                step.end_step()
                new = replace(new, history=History(state.positions, state.velocities, time_step))
            return new, report
        history = History(state.positions, state.velocities, time_step) if self.integrator.NEEDS_HISTORY else None
        velocities = time.velocities(at.x) if at.velocities is None else at.velocities
        step.end_step()
        return State(at.x, velocities, at.stretch, history), report

    def solve(self, state: State, step: IncrementalPotential, report: StepReport) -> Solution:
        """Return the solution of a step: positions that minimize its incremental potential."""
        raise NotImplementedError

    # -- a step's beginning and end ---------------------------------------------------------------------------------

    def begin(
        self, state: State, time: TimeStep, pin_targets: np.ndarray, loads: LoadsOrFactory
    ) -> IncrementalPotential:
        """Return the incremental potential of a step from a state.

        ``pin_targets`` (p,3), m: positions of the pinned vertices at the end of the step.
        """
        neglected = self.neglected_movement(time.step) if self.settings.kind.iterates else 0.0
        self.system.begin_step(state.slow_steps, neglected)
        prescribed = time.interpolated(state.positions[self.model.pinned], pin_targets)
        loads = loads(time.theta) if callable(loads) else loads
        earlier = state.history.positions if time.extrapolation else None
        length = time.rate_step or time.step
        motion = Motion(state.positions, time.base, length, state.velocities, time.theta, earlier, time.extrapolation)
        potentials = tuple(load.begin(motion) for load in (*self.drag, *loads))
        beta = self.settings.stiffness_damping
        damping = StretchDamping(self.elastic, beta, state, time) if beta else None
        return IncrementalPotential(
            self.inertia, self.gravity, self.elastic, potentials, time, self.model.pinned, prescribed, damping
        )

    def start(self, positions: np.ndarray, step: IncrementalPotential) -> np.ndarray:
        """Return ``positions`` (n,3) m with the pinned vertices at their prescribed positions.

        Flesh around kinematic regions moves along. Contact is not checked. Raises DivergenceError if a position is not
        finite.
        """
        x, model = positions.copy(), self.model
        displacements = step.prescribed_positions - x[model.pinned]
        x[model.pinned] = step.prescribed_positions
        if model.has_regions and displacements.any():
            if self._extension is None or self._extension.h != step.h:
                self._extension = PinExtension(model, step.h)
            self._extension.extend(x, displacements)
        check_finite(x, "position")
        return x

    def initial_iterate(
        self, guess: np.ndarray, state: State, step: IncrementalPotential, report: StepReport
    ) -> np.ndarray:
        """Return the initial positions (n,3) m of the iterations.

        The initial positions are the ``guess`` (n,3) m with pins at their prescribed positions, if there is no contact
        at the guess or on the path to the guess. Otherwise they are the positions of the body after the motion of pins
        and obstacles along their paths.
        """
        if step.contact is None:
            return self.start(guess, step)
        x = advance_prescribed_motion(self, state.positions, step, report)
        if step.contact.normalized_gap(x) < np.inf:
            return x
        ahead = self.start(guess, step)
        return ahead if step.max_step_size(x, ahead - x) == 1.0 and step.contact.normalized_gap(ahead) == np.inf else x

    def _record_gradient(
        self, at: Solution, state: State, step: IncrementalPotential, report: StepReport
    ) -> np.ndarray:
        """Return the gradient of the incremental potential at the solution, (n,3) kg m, and record its norm."""
        check_finite(at.x, "position")
        self._check_divergence(state, at.x, step)
        gradient = step.gradient_at(at.x, at.deformation)
        report.gradient_norm = float(np.linalg.norm(gradient))
        report.linear_solver = self.system.choice
        report.force = report.gradient_norm / step.h**2
        if not report.reason:
            report.reason = f"the cap of {self.settings.max_iterations} iterations was reached"
        return gradient

    def _check_divergence(self, state: State, x: np.ndarray, step: IncrementalPotential) -> None:
        """Raise DivergenceError if a vertex is too far from its predicted position."""
        flight, vertex = self.model.max_displacement(x - step.time.predicted)
        far = BLOWUP_DISTANCE * self.model.size + 10.0 * step.h**2 * float(np.linalg.norm(self.settings.gravity))
        if flight <= far:
            return
        pinned, moved = self.model.pinned, np.zeros_like(x)
        moved[pinned] = x[pinned] - state.positions[pinned]
        if flight > far + 10.0 * self.model.max_displacement(moved)[0]:
            raise DivergenceError(
                f"Vertex {{vertex}} flew {flight:.3g} m away in one step.",
                "Use more substeps, a lower Poisson's ratio, or the solver Mixed FEM.",
                vertex,
                len(self.model.mesh.rest_positions),
            )

    # -- evaluation and search direction ----------------------------------------------------------------------------

    def evaluate(self, x: np.ndarray, step: IncrementalPotential, near: Deformation | None = None) -> NewtonIterate:
        """Return the iterate at x (n,3) m, with its deformation and incremental potential.

        ``near``: deformation of similar positions, to speed up the SVD, or None.
        """
        deformation = self.elastic.deformation(x, near)
        return NewtonIterate(x, deformation, *step.value(x, deformation))

    def direction(self, x: np.ndarray, gradient: np.ndarray, step: IncrementalPotential) -> QPSolution | None:
        """Return the search direction at x (n,3) m, or None if the matrix is not positive definite.

        The direction minimizes the quadratic model with the last factorised matrix and the ``gradient`` (n,3) kg m.
        """
        if self.system.is_small and (obstacles := step.unilateral_springs(x)):
            return solve_active_set_qp(self.system, gradient, obstacles, step.h**2)
        return self.solve_system(gradient)

    def solve_system(self, gradient: np.ndarray) -> QPSolution | None:
        """Return the minimizer of the quadratic model with the last matrix and the ``gradient`` (n,3) kg m.

        The result is None if the matrix is not positive definite, and was not factorised before.
        """
        try:
            return QPSolution(self.system.solve(-gradient), self.system.residual_work)
        except FactorizationError:
            return None

    def descent_direction(
        self,
        assemble: Callable[[bool], np.ndarray],
        solve: Callable[[np.ndarray], QPSolution | None],
        report: StepReport,
        projected: bool,
        step: IncrementalPotential,
    ) -> tuple[np.ndarray, np.ndarray, bool]:
        """Return the gradient (n,3) kg m, a direction (n,3) m of descent, and whether the matrix had to be projected.

        ``assemble``: function that assembles the matrix, projected or not, and returns the gradient. ``solve``:
        function that returns the solution for a gradient. ``projected``: False to project the matrix only if it is
        indefinite, which the factorisation finds, or the solution. Raises FactorizationError if the projected matrix is
        not positive definite.
        """
        for is_projected in step.projections(projected):
            with report.timed("assembly"):
                gradient = assemble(is_projected)
            with report.timed("factorization"):
                if not self.system.try_factorize():
                    continue
            with report.timed("solve"):
                solution = solve(gradient)
            if solution is not None and (is_projected or not self.system.is_indefinite):
                return gradient, solution.change, is_projected and not projected
        raise self.system.error()

    def gradient_norm(self, x: np.ndarray, deformation: Deformation, step: IncrementalPotential) -> float:
        """Return the norm of the incremental potential's gradient, kg m, without the entries of pinned vertices."""
        return float(np.linalg.norm(step.gradient_at(x, deformation)))

    # -- when to stop -----------------------------------------------------------------------------------------------

    def check_convergence(
        self,
        report: StepReport,
        iteration: Iteration,
        direction_size: float,
        h: float,
        magnitude: float,
        accepted: bool,
    ) -> None:
        """Record an iteration in the report, with the stop reason if it was the last one.

        ``direction_size``, m: largest displacement of the whole search direction, used by the stop rule. The stop rule
        does not use the accepted step, since near the minimum the length of that step depends on round-off alone.
        ``h``, s: effective step of the time integration rule. ``magnitude``: sum of the absolute values of the merit's
        terms. ``accepted``: False if the line search failed.
        """
        report.iterations += 1
        report.history.append(iteration)
        report.movement = direction_size
        stop_reason = self.stop_reason(iteration.decrement, direction_size, h)
        predicted_decrease = iteration.predicted_decrease
        if stop_reason or not accepted:
            # An inexact solution of the linear system can be small far from the minimum.
            missing = self.system.error_estimate()
            report.movement += missing.movement
            stop_reason = self.stop_reason(iteration.decrement + missing.decrement, report.movement, h)
            predicted_decrease += missing.decrement
        if stop_reason:
            report.converged = True
            report.reason = stop_reason
        elif not accepted and abs(predicted_decrease) <= ROUND_OFF_DECREMENT * magnitude:
            report.converged = True
            report.reason = "the energy cannot be lowered any further (round-off)"
        elif not accepted:
            report.reason = "the line search failed: no step along the search direction lowers the energy"

    def stop_reason(self, decrement: float, direction_size: float, h: float) -> str:
        """Return the stop reason for the report if the stop rule holds, else an empty string.

        ``decrement``, kg m²: Newton decrement. ``direction_size``, m: largest displacement of the search direction.
        ``h``, s: effective length of the step in the time integration rule.
        """
        settings, rule = self.settings, self._stop_rule(h)
        if rule == "decrement":
            if decrement <= h**2 * settings.decrement_tolerance:
                return f"an iteration can lower the energy by no more than {settings.decrement_tolerance:g} J"
        elif direction_size <= self.neglected_movement(h):
            if rule == "movement":
                return f"no vertex moves farther than {settings.tolerance:g} of the body's size in an iteration"
            return f"no vertex's acceleration changes more than {settings.acceleration_tolerance:g} m/s²"
        return ""

    def neglected_movement(self, h: float) -> float:
        """Return the displacement, m, that the stop rule neglects; 0 if the rule judges the Newton decrement.

        ``h``, s: effective length of the step in the time integration rule.
        """
        rule = self._stop_rule(h)
        if rule == "movement":
            return self.settings.tolerance * self.model.size
        return h**2 * self.settings.acceleration_tolerance if rule == "acceleration" else 0.0

    def _stop_rule(self, h: float) -> str:
        """Return the stop rule of a step. A static step is too long for accelerations."""
        rule = self.settings.stop_rule
        return "movement" if h == statics.LONG and rule == "acceleration" else rule

    def update_lagging(self, x: np.ndarray, step: IncrementalPotential, report: StepReport) -> bool:
        """Update lagged terms (friction, pin springs) at an iterate x (n,3) m.

        Return True if the terms changed. Nothing is updated after a step that the line search shortened.
        """
        return not report.reason and report.history[-1].step_length == 1.0 and step.update_lagging(x)

    def update_lagging_at_solution(self, x: np.ndarray, step: IncrementalPotential, report: StepReport) -> bool:
        """Update lagged terms (friction, pin springs) at a converged solution x (n,3) m.

        Return True if the iterations must continue, because the terms changed or friction requires another iteration.
        """
        unconverged = report.converged and step.is_unconverged(x)
        if not report.converged or not (unconverged or step.update_lagging_at_solution(x)):
            return False
        report.converged, report.reason = False, ""
        if unconverged or step.lagging_iterations_left >= 0:
            return True
        report.reason = f"friction or pin forces still changed after {MAX_LAGGING_ITERATIONS} lagging iterations"
        return False
