"""Linearly implicit FEM: one linear solve per step ([ConJac20] Eq. 10).

    (M + beta h² K) v = M v0 + h f,      x = x0 + h v

K is the projected stiffness ``-df/dx`` and f the forces, both at the start of the step. beta = 1 is Baraff and Witkin's
rule; a larger beta damps. [ConJac20] writes K for ``df/dx``, hence its minus sign.

The forces at the end of a step differ from ``f - beta K (x - x0)``. Each step solves its factorised system once more
for this difference. It reports the resulting displacement, which estimates the error within a factor of a few.

With a barrier, Newton's method minimizes the sum of the barrier and the quadratic energy of the linearized terms. The
barrier's Hessian is not projected if the iterations stagnate. Elasticity is still evaluated once, at the start.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ...mechanics.energies.kinematics import Deformation
from ...mechanics.forces.step_potential import StepPotential
from ...numerics.optimization.step_report import Iteration, StepReport
from ..model.state import State
from .incremental_potential import IncrementalPotential
from .newton import is_stagnating, line_search_with_contact
from .protocol import check_direction, check_finite
from .step_solver import StepSolver
from .theta_extrapolation import Solution

MOST_SOLVES = 6
"""Largest number of linear solves in a step without a barrier.

Several solves are needed if loads change with positions, such as penalty contact.
"""

MOST_MEETING = 100
"""Largest number of linear solves in a step with a barrier. Stopping early leaves barrier forces unbalanced."""

ROUGH = 1000.0
"""Largest displacement due to the nonlinear residual of a converged step, in multiples of the tolerance.

With the default tolerance, this displacement is 1 % of the body's size.
"""


class _Linearized:
    """Elasticity, stretch damping and strain potential of a step, each linearized once at the step's beginning."""

    def __init__(self, solver: StepSolver, state: State, step: IncrementalPotential) -> None:
        self._solver, self._step, self._start = solver, step, state.positions
        self._beta = beta = solver.settings.damping_factor
        elastic = solver.elastic
        deformation = step.damping.start if step.damping else elastic.deformation(state.positions)
        self._stress = elastic.stress(deformation)
        self._tangent = step.tangent(deformation).scaled(beta)
        self._at_start, self._low_rank = step.strain_gradient(deformation), step.low_rank(deformation)
        self._straining = self._low_rank.scaled(beta) if step.strain else None
        # Stretch damping is linearized about the inertial prediction: about the start, rotations would count as
        # stretches.
        self._ahead = solver.start(step.time.predicted, step)
        self._deformation_ahead = step.damping and elastic.deformation(self._ahead)

    def gradient(
        self, x: np.ndarray, potentials: tuple[StepPotential, ...] | None = None
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the gradient (n,3) kg m of the linearized incremental potential at x (n,3) m.

        The second result is the second derivatives (m,6,3,3) of stretch damping times the squared step, or None.
        ``potentials``: potentials to add instead of those of the step.
        """
        step, solver = self._step, self._solver
        stress, added = (
            self._stress + self._tangent.stress_change(solver.elastic.delta_F(x - self._start)),
            None,
        )
        if step.damping is not None:
            dF = solver.elastic.delta_F(x - self._ahead)
            damping_stress, added = step.damping.linearized(self._deformation_ahead, dF, step.h**2)
            stress += damping_stress
        g = step.gradient(x, stress, potentials=potentials)
        if self._straining is not None:
            g += step.h**2 * (self._at_start + self._straining.times(x - self._start))
            g[solver.model.pinned] = 0.0
        return g, added

    def assembled(self, x: np.ndarray, projected: bool = True) -> np.ndarray:
        """Assemble the linear system at x (n,3) m, and return the gradient (n,3) kg m."""
        step = self._step
        if step.contact is not None:
            step.contact.projected = projected
        g, added = self.gradient(x)
        low_rank = self._straining or self._low_rank
        self._solver.system.assemble_tangent(self._tangent, step.h**2, x, step.potentials, added, low_rank)
        return g

    def nonlinear_residual(self, x: np.ndarray, deformation: Deformation) -> np.ndarray:
        """Return the residual (n,3) kg m of the nonlinear equations at x (n,3) m, without the forces of extra damping.

        Extra damping is due to a ``damping_factor`` other than 1.
        """
        step, solver, beta = self._step, self._solver, self._beta
        change = self._tangent.stress_change(solver.elastic.delta_F(x - self._start))
        nonlinear_residual = step.gradient_at(x, deformation, (1.0 - 1.0 / beta) * change)
        if self._straining is not None:
            nonlinear_residual += (1.0 - 1.0 / beta) * step.h**2 * self._straining.times(x - self._start)
            nonlinear_residual[solver.model.pinned] = 0.0
        return nonlinear_residual


class LinearlyImplicitSolver(StepSolver):
    """Linearly implicit FEM: Baraff and Witkin's linearized implicit Euler ([ConJac20] Eq. 10).

    The solver works in the full space or a subspace. M is the mass matrix, K the stiffness at the start of the step, h
    the length of the step, and beta the setting ``damping_factor``.

    1. Assemble the projected tangent at the start of the step.
    2. Solve ``(M + beta h² K) dx = -gradient`` once. Repeat this up to ``MOST_SOLVES`` times if loads depend on x.
    3. With a barrier, repeat as Newton's method with line search and CCD, up to ``MOST_MEETING`` times.
    4. Evaluate the residual of the nonlinear equations, and report the displacement that it would still cause.

    Settings: ``damping_factor``, and the settings of :class:`StepSolver` except ``max_iterations``.
    """

    def solve(self, state: State, step: IncrementalPotential, report: StepReport) -> Solution:
        """Return the solution of a step by one or more linear solves.

        The prescribed displacements of pinned vertices act on the other vertices through the matrix ``M + beta h² K``.
        M is the mass matrix, K the stiffness at the start of the step, h the length of the step, and beta the setting
        ``damping_factor``.
        """
        # Linear forces yield the same solution from any point. Contact is detected at the initial point: begin at
        # the inertial prediction.
        x = self.initial_iterate(step.time.predicted, state, step, report)
        with report.timed("assembly"):
            linearized = _Linearized(self, state, step)
        while not report.reason:
            stagnating = step.contact is not None and is_stagnating(report.history)
            assemble = partial(linearized.assembled, x)
            g, dx, is_indefinite = self.descent_direction(assemble, self.solve_system, report, not stagnating, step)
            if step.contact is not None:
                x = self._searched(x, g, dx, linearized, step, report, is_indefinite)
                continue
            check_finite(dx, "movement")
            x = x + dx
            self._judge_solve(dx, g, step.has_contact, step, report)
        with report.timed("local"):
            deformation = self.elastic.deformation(x)
        with report.timed("assembly"):
            nonlinear_residual = linearized.nonlinear_residual(x, deformation)
        with report.timed("solve"):
            self._judge_rest(self.system.solve(-nonlinear_residual), nonlinear_residual, step, report)
        return Solution(x, deformation, deformation.stretch())

    def _searched(
        self,
        x: np.ndarray,
        g: np.ndarray,
        dx: np.ndarray,
        linearized: _Linearized,
        step: IncrementalPotential,
        report: StepReport,
        is_indefinite: bool,
    ) -> np.ndarray:
        """Return the next iterate (n,3) m, by a line search along Newton's direction dx (n,3) m."""
        decrement = -float(np.sum(g * dx))
        check_direction(dx, decrement)
        with report.timed("line_search"):
            # All terms but the potentials are quadratic: slope and curvature along dx define them.
            first, then = (linearized.gradient(at, ())[0] for at in (x, x + dx))
            slope, bend = float(np.sum(first * dx)), float(np.sum((then - first) * dx))

            def merit(alpha: float) -> tuple[float, float, np.ndarray]:
                trial = x + alpha * dx
                parts = [step.h**2 * each.value(trial) for each in step.potentials]
                parts += [alpha * slope, 0.5 * alpha**2 * bend]
                return sum(parts), sum(abs(part) for part in parts), trial

            start, magnitude, _ = merit(0.0)
            alpha, accepted = line_search_with_contact(
                merit, (start, magnitude, -decrement), x, dx, step, is_indefinite
            )
        size = self.model.max_displacement(dx)[0]
        iteration = Iteration(float(np.linalg.norm(g)), decrement, decrement, alpha, alpha * size)
        self.check_convergence(report, iteration, size, step.h, magnitude + abs(slope), accepted is not None)
        x = x if accepted is None else accepted
        self.update_lagging_at_solution(x, step, report)
        if not report.reason and len(report.history) >= MOST_MEETING:
            report.reason = f"{MOST_MEETING} linear solves did not reach the tolerance"
        return x

    def _judge_solve(
        self, dx: np.ndarray, g: np.ndarray, changing: bool, step: IncrementalPotential, report: StepReport
    ) -> None:
        """Record a linear solve in the report, with the stop reason if it was the last one."""
        size = self.model.max_displacement(dx)[0]
        decrement = -float(np.sum(g * dx))
        report.iterations += 1
        report.history.append(Iteration(float(np.linalg.norm(g)), decrement, decrement, 1.0, size))
        missing = self.system.error_estimate()
        # An exact solve of a linear problem leaves no residual.
        report.movement = size + missing.movement if changing else missing.movement
        stop_reason = self.stop_reason(missing.decrement + (decrement if changing else 0.0), report.movement, step.h)
        if stop_reason:
            report.converged = True
            report.reason = stop_reason if changing else "one linear solve"
        elif report.iterations == (MOST_SOLVES if changing else 1):
            solves = f"{MOST_SOLVES} linear solves" if changing else "one linear solve"
            report.reason = f"{solves} did not reach the tolerance"

    def _judge_rest(
        self, dx: np.ndarray, nonlinear_residual: np.ndarray, step: IncrementalPotential, report: StepReport
    ) -> None:
        """Record the displacement dx (n,3) m that the nonlinear residual would still cause.

        The step counts as not converged if the displacement is too large.
        """
        missing = self.system.error_estimate()
        report.movement = (self.model.max_displacement(dx)[0] + missing.movement) / step.time.theta
        decrement = missing.decrement - float(np.sum(nonlinear_residual * dx))
        if report.converged and not self.stop_reason(decrement / ROUGH**2, report.movement / ROUGH, step.h):
            report.converged = False
            share = report.movement / self.model.size
            report.reason = f"linearized elasticity left an error in position of {share:.1%} of the body's size"
