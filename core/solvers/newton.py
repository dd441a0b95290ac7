"""Newton FEM: projected Newton on the incremental potential, with backtracking line search.

The standard that the mixed methods are compared with ([MFEM22] Sec. 4): right when it converges, damped when it is
stopped early.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..forces.step_potential import Load
from ..model.state import State
from ..optimization.report import StepReport
from .step_solver import StepSolver


class NewtonSolver(StepSolver):
    """Projected Newton."""

    name = "newton"
    label = "Newton FEM"
    description = "Accurate when it converges; loses motion when stopped early on stiff bodies"

    def step(
        self, state: State, pin_targets: np.ndarray, time_step: float, loads: Sequence[Load] = ()
    ) -> tuple[State, StepReport]:
        """One step of the time integration rule."""
        report = StepReport(self.name)
        step = self.begin(state, time_step, loads)
        # Inner friction balances what relaxes: each clamped by itself, they would hold stiff parts that turn.
        projected = step.friction is None
        at = self.minimize(self.start(state.positions, pin_targets), step, report, projected)
        return self.finish(state, at.x, at.deformation.stretch(), step, time_step, report)
