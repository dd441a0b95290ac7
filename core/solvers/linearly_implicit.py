"""Linearly implicit FEM: one linear solve a step ([ConJac20] Eq. 10).

    (M + beta h² K) v = M v0 + h f,      x = x0 + h v

K is the projected stiffness ``-df/dx`` at the start of the step, f the forces there; beta = 1 is Baraff and Witkin's
rule, a larger beta damps. [ConJac20] writes K for ``df/dx``, hence its minus sign.

Forces at the end of a step are not ``f - beta K (x - x0)``. How far the step's own factor would move the body for what
they are beside it is told with each step: the distance from the solution, within a factor of a few.

Where bodies meet, what is linear is one quadratic energy, and Newton's iterations add the barrier to it until that is
least, as it is where they creep: elasticity is still asked once, at the start.
"""

from __future__ import annotations

import numpy as np

from ..energies.kinematics import Deformation
from ..model.state import State
from ..optimization.report import Iteration, StepReport
from .extrapolated import Solution
from .incremental_potential import IncrementalPotential
from .protocol import check_direction, check_finite
from .step_solver import StepSolver, is_stagnating, line_search_with_contact

MOST_SOLVES = 6
"""Linear solves a step where loads (contact) change as the body moves."""

MOST_MEETING = 100
"""The same where bodies meet: a step that ends early there has forces of the barrier that nothing balances."""

ROUGH = 1000.0
"""Tolerances that one solve may leave of a step that counts as converged: by default a hundredth of the body's size."""


class _Linearized:
    """Elasticity in a step, internal friction and what a match takes of it with it: linear about the start."""

    def __init__(self, solver: StepSolver, state: State, step: IncrementalPotential) -> None:
        self._solver, self._step, self._start = solver, step, state.positions
        self._beta = beta = solver.settings.damping_factor
        elastic = solver.elastic
        deformation = step.friction.start if step.friction else elastic.deformation(state.positions)
        self._stress = elastic.stress(deformation)
        self._tangent = step.tangent(deformation).scaled(beta)
        self._at_start, self._low_rank = step.strain_gradient(deformation), step.low_rank(deformation)
        self._straining = self._low_rank.scaled(beta) if step.strain else None
        # Internal friction is linear from where inertia leads: from the start it would take turns for stretches.
        self._ahead = solver.start(step.time.predicted, step)
        self._deformation_ahead = step.friction and elastic.deformation(self._ahead)

    def gradient(self, x: np.ndarray, of_potentials: bool = True) -> tuple[np.ndarray, np.ndarray | None]:
        """Of the incremental potential, (n,3) kg m, and the element matrices of internal friction, if there is any."""
        step, solver = self._step, self._solver
        stress, added = (
            self._stress + self._tangent.stress_change(solver.elastic.delta_F(x - self._start)),
            None,
        )
        if step.friction is not None:
            dF = solver.elastic.delta_F(x - self._ahead)
            rubs, added = step.friction.linearized(self._deformation_ahead, dF, solver.system.N, step.h**2)
            stress += rubs
        g = step.gradient(x, stress, of_potentials=of_potentials)
        if self._straining is not None:
            g += step.h**2 * (self._at_start + self._straining.times(x - self._start))
            g[solver.model.pinned] = 0.0
        return g, added

    def assembled(self, x: np.ndarray, projected: bool = True) -> np.ndarray:
        """The gradient at x, once the system is assembled for it, with what touches ``projected``."""
        step = self._step
        if step.meeting is not None:
            step.meeting.projected = projected
        g, added = self.gradient(x)
        low_rank = self._straining or self._low_rank
        self._solver.system.assemble_tangent(self._tangent, step.h**2, x, step.potentials, added, low_rank)
        return g

    def left(self, x: np.ndarray, deformation: Deformation) -> np.ndarray:
        """What is left of the gradient where nothing is linear, (n,3) kg m; what a beta beside one adds is meant."""
        step, solver, beta = self._step, self._solver, self._beta
        change = self._tangent.stress_change(solver.elastic.delta_F(x - self._start))
        left = step.gradient_at(x, deformation, (1.0 - 1.0 / beta) * change)
        if self._straining is not None:
            left += (1.0 - 1.0 / beta) * step.h**2 * self._straining.times(x - self._start)
            left[solver.model.pinned] = 0.0
        return left


class LinearlyImplicitSolver(StepSolver):
    """One linear solve a step, with the damping factor beta; a few where loads change within it, as contact does; as
    many as it takes where bodies meet.
    """

    def solve(self, state: State, step: IncrementalPotential, report: StepReport) -> Solution:
        """One step. Pinned vertices move by what they are told; the others feel it through ``beta h² K``."""
        # The solution does not depend on where the linear forces are evaluated; contact wants to see what is coming.
        x = self.initial_iterate(step.time.predicted, state, step, report)
        with report.timed("assembly"):
            linearized = _Linearized(self, state, step)
        while not report.reason:
            with report.timed("assembly"):
                creeping = step.meeting is not None and is_stagnating(report.history)
                g = linearized.assembled(x, not creeping)
            with report.timed("factorization"):
                bends = creeping and not self.system.try_factorize()
                if bends:
                    linearized.assembled(x)
                if bends or not creeping:
                    self.system.factorize()
            with report.timed("solve"):
                dx = self.system.solve(-g)
            if step.meeting is not None:
                x = self._searched(x, g, dx, linearized, step, report, bends)
                continue
            check_finite(dx, "movement")
            x = x + dx
            self._judge_solve(dx, g, step.has_contact, step, report)
        with report.timed("local"):
            deformation = self.elastic.deformation(x)
        with report.timed("assembly"):
            left = linearized.left(x, deformation)
        with report.timed("solve"):
            self._judge_rest(self.system.solve(-left), left, step, report)
        return Solution(x, deformation, deformation.stretch())

    def _searched(
        self,
        x: np.ndarray,
        g: np.ndarray,
        dx: np.ndarray,
        linearized: _Linearized,
        step: IncrementalPotential,
        report: StepReport,
        bends: bool,
    ) -> np.ndarray:
        """Where Newton's iteration from x leads, as far as nothing crosses and the energy falls; judged as Newton's."""
        decrement = -float(np.sum(g * dx))
        check_direction(dx, decrement)
        with report.timed("line_search"):
            # All but the potentials is quadratic: its slope and its curvature along the way tell it.
            first, then = (linearized.gradient(at, of_potentials=False)[0] for at in (x, x + dx))
            slope, bend = float(np.sum(first * dx)), float(np.sum((then - first) * dx))

            def merit(alpha: float) -> tuple[float, float, np.ndarray]:
                trial = x + alpha * dx
                parts = [step.h**2 * each.value(trial) for each in step.potentials]
                parts += [alpha * slope, 0.5 * alpha**2 * bend]
                return sum(parts), sum(abs(part) for part in parts), trial

            start, magnitude, _ = merit(0.0)
            alpha, accepted = line_search_with_contact(merit, (start, magnitude, -decrement), x, dx, step, bends)
        size = self.model.farthest(dx)[0]
        iteration = Iteration(float(np.linalg.norm(g)), decrement, decrement, alpha, alpha * size)
        self.check_convergence(report, iteration, size, step.h, magnitude + abs(slope), accepted is not None)
        x = x if accepted is None else accepted
        self.update_lagging_at_solution(x, step, report)
        if not report.reason and len(report.history) >= MOST_MEETING:
            report.reason = f"{MOST_MEETING} linear solves did not meet the tolerance"
        return x

    def _judge_solve(
        self, dx: np.ndarray, g: np.ndarray, changing: bool, step: IncrementalPotential, report: StepReport
    ) -> None:
        """Whether the linear solve was the last one: loads that change, as those that touch or let go, ask for
        another.
        """
        size = self.model.farthest(dx)[0]
        decrement = -float(np.sum(g * dx))
        report.iterations += 1
        report.history.append(Iteration(float(np.linalg.norm(g)), decrement, decrement, 1.0, size))
        missing = self.system.error_estimate()
        # Where all is linear an exact solve leaves nothing to do.
        report.movement = size + missing.movement if changing else missing.movement
        stop_reason = self.stop_reason(missing.decrement + (decrement if changing else 0.0), report.movement, step.h)
        if stop_reason:
            report.converged = True
            report.reason = stop_reason if changing else "one linear solve"
        elif report.iterations == (MOST_SOLVES if changing else 1):
            solves = f"{MOST_SOLVES} linear solves" if changing else "one linear solve"
            report.reason = f"{solves} did not meet the tolerance"

    def _judge_rest(self, dx: np.ndarray, left: np.ndarray, step: IncrementalPotential, report: StepReport) -> None:
        """Whether what the linear solve left is little enough."""
        missing = self.system.error_estimate()
        report.movement = (self.model.farthest(dx)[0] + missing.movement) / step.time.theta
        decrement = missing.decrement - float(np.sum(left * dx))
        if report.converged and not self.stop_reason(decrement / ROUGH**2, report.movement / ROUGH, step.h):
            report.converged = False
            share = report.movement / self.model.size
            report.reason = f"elasticity, asked once a step, left a movement by {share:.1%} of the body's size"
