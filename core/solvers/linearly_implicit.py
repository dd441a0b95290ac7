"""Linearly implicit FEM: one linear solve a step ([ConJac20] Eq. 10).

    (M + beta h² K) v = M v0 + h f,      x = x0 + h v

K is the projected stiffness ``-df/dx`` at the start of the step, f the forces there; beta = 1 is Baraff and Witkin's
rule, a larger beta damps. [ConJac20] writes K for ``df/dx``, hence its minus sign.

Forces at the end of a step are not ``f - beta K (x - x0)``. How far the step's own factor would move the body for what
they are beside it is told with each step: the distance from the solution, within a factor of a few.
"""

from __future__ import annotations

import numpy as np

from ..model.state import State
from ..optimization.report import Iteration, StepReport
from .extrapolated import Solution
from .incremental_potential import IncrementalPotential
from .protocol import check_finite
from .step_solver import StepSolver

MOST_SOLVES = 6
"""Linear solves a step where loads (contact) change as the body moves."""

ROUGH = 1000.0
"""Tolerances that one solve may leave of a step that counts as converged: by default a hundredth of the body's size."""


class LinearlyImplicitSolver(StepSolver):
    """One linear solve a step, with the damping factor beta; a few where loads change within it, as contact does."""

    def solve(self, state: State, step: IncrementalPotential, report: StepReport) -> Solution:
        """One step. Pinned vertices move by what they are told; the others feel it through ``beta h² K``."""
        beta = self.settings.damping_factor
        with report.timed("assembly"):
            deformation = step.friction.start if step.friction else self.elastic.deformation(state.positions)
            stress = self.elastic.stress(deformation)
            tangent = step.tangent(deformation).scaled(beta)
            at_start, low_rank = step.strain_gradient(deformation), step.low_rank(deformation)
            straining = low_rank.scaled(beta) if step.strain else None
        # The solution does not depend on where the linear forces are evaluated; contact wants to see what is coming.
        x = first = self.start(step.time.predicted, step)
        # Internal friction is linear from where inertia leads: from the start it would take turns for stretches.
        ahead = step.friction and self.elastic.deformation(first)
        changing = step.meets_obstacles
        while not report.reason:
            with report.timed("assembly"):
                changed, added = stress + tangent.stress_change(self.elastic.change(x - state.positions)), None
                if step.friction is not None:
                    dF = self.elastic.change(x - first)
                    rubs, added = step.friction.linearized(ahead, dF, self.system.N, step.h**2)
                    changed += rubs
                g = step.gradient(x, changed)
                if straining is not None:
                    g += step.h**2 * (at_start + straining.times(x - state.positions))
                    g[self.model.pinned] = 0.0
                self.system.assemble_tangent(tangent, step.h**2, x, step.potentials, added, straining or low_rank)
            with report.timed("factorization"):
                self.system.factorize()
            with report.timed("solve"):
                dx = self.system.solve(-g)
            check_finite(dx, "movement")
            x = x + dx
            self._judge_solve(dx, g, changing, step, report)
        with report.timed("local"):
            deformation = self.elastic.deformation(x)
        with report.timed("assembly"):
            # What a beta beside one adds is meant.
            change = tangent.stress_change(self.elastic.change(x - state.positions))
            left = step.gradient_at(x, deformation, (1.0 - 1.0 / beta) * change)
            if straining is not None:
                left += (1.0 - 1.0 / beta) * step.h**2 * straining.times(x - state.positions)
                left[self.model.pinned] = 0.0
        with report.timed("solve"):
            self._judge_rest(self.system.solve(-left), left, step, report)
        return Solution(x, deformation, deformation.stretch())

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
            report.reason = f"one linear solve left a movement by {share:.1%} of the body's size"
