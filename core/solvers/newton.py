"""Newton FEM: projected Newton on the incremental potential, with backtracking line search.

The standard that the mixed methods are compared with ([MFEM22] Sec. 4): right when it converges, damped when it is
stopped early.
"""

from __future__ import annotations

import numpy as np

from ..integrators.backward_euler import predicted_positions
from ..model.state import State
from ..optimization.report import StepReport
from .full_space import FullSpaceSolver


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
        with report.timed("line_search"):
            at = self.evaluate(self.start(state.positions, pin_targets), predicted, h)
        while report.iterations < self.settings.max_iterations:
            accepted = self.newton_iteration(at, predicted, h, report, projected=True)
            at = accepted or at
            if report.reason:
                break
        report.gradient_norm = float(
            np.linalg.norm(self.gradient(at.x, self.elastic.stress(at.deformation), predicted, h))
        )
        return self.finish(state, at.x, at.deformation.stretch(), h, report)
