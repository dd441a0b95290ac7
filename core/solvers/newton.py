"""Newton FEM: projected Newton on the incremental potential, with backtracking line search.

The standard that the mixed methods are compared with ([MFEM22] Sec. 4): right when it converges, damped when it is stopped early.
"""

from __future__ import annotations

import numpy as np

from ..integrators.backward_euler import predicted_positions
from ..model.state import State
from ..optimization.line_search import backtrack
from ..optimization.report import Iteration, StepReport
from .full_space import FullSpaceSolver
from .protocol import check_finite


class NewtonSolver(FullSpaceSolver):
    """Projected Newton."""

    name = "newton"
    label = "Newton FEM"
    description = "Accurate when it converges; loses motion when stopped early on stiff bodies"

    def step(self, state: State, pin_targets: np.ndarray, time_step: float) -> tuple[State, StepReport]:
        """One step of implicit Euler."""
        h = time_step
        report = StepReport(self.name)
        predicted = predicted_positions(state.positions, state.velocities, h)
        x = self.start(state, pin_targets)
        with report.timed("line_search"):
            deformation = self.elastic.deformation(x)
            value, magnitude = self.value(x, deformation, predicted, h)
        while report.iterations < self.settings.max_iterations:
            with report.timed("assembly"):
                g = self.gradient(x, self.elastic.stress(deformation), predicted, h)
                self.system.assemble(self.elastic.hessian(deformation), h**2)
            with report.timed("factorization"):
                self.system.factorize()
            with report.timed("solve"):
                dx = self.system.solve(-g)
            check_finite(dx, "search direction")
            slope = float(np.sum(g * dx))

            def merit(alpha: float, x=x, dx=dx):
                trial = x + alpha * dx
                at = self.elastic.deformation(trial)
                return *self.value(trial, at, predicted, h), (trial, at)

            with report.timed("line_search"):
                alpha, accepted = backtrack(merit, value, magnitude, slope)
            report.iterations += 1
            movement = alpha * float(np.linalg.norm(dx, axis=1).max())
            report.history.append(Iteration(float(np.linalg.norm(g)), -slope, alpha, movement))
            if accepted is None:
                report.reason = "no step lowers the energy any further (round-off)"
                break
            x, deformation = accepted
            value, magnitude = self.value(x, deformation, predicted, h)
            if self.has_settled(report, movement, alpha):
                break
        g = self.gradient(x, self.elastic.stress(deformation), predicted, h)
        report.gradient_norm = float(np.linalg.norm(g))
        return self.finish(state, x, deformation.stretch(), h, report)
