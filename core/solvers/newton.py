"""Newton FEM: projected Newton on the incremental potential, with backtracking line search.

The standard that the mixed methods are compared with ([MFEM22] Sec. 4): right when it converges, damped when it is
stopped early.
"""

from __future__ import annotations

from ..model.state import State
from ..optimization.report import StepReport
from .extrapolated import Solution
from .incremental_potential import IncrementalPotential
from .step_solver import StepSolver


class NewtonSolver(StepSolver):
    """Projected Newton."""

    def solve(self, state: State, step: IncrementalPotential, report: StepReport) -> Solution:
        """One step, as :meth:`step`."""
        # Internal friction balances what relaxes: each clamped by itself, they would hold stiff parts that turn.
        projected = step.friction is None
        at = self.minimize(self.begun(state.positions, state, step, report), step, report, projected)
        return Solution(at.x, at.deformation, at.deformation.stretch())
