"""Newton FEM: projected Newton on the incremental potential, with backtracking line search.

The standard that the mixed methods are compared with ([MFEM22] Sec. 4): right when it converges, damped when it is
stopped early.
"""

from __future__ import annotations

import numpy as np

from ..forces.step_potential import LoadsOrFactory
from ..integrators import backward_euler
from ..model.state import State
from ..optimization.report import REDONE_BY, StepReport
from .extrapolated import Solution
from .incremental_potential import IncrementalPotential
from .step_solver import StepSolver


class NewtonSolver(StepSolver):
    """Projected Newton."""

    def solve(self, state: State, step: IncrementalPotential, report: StepReport) -> Solution:
        """One step, as :meth:`step`."""
        # Internal friction balances what relaxes: each clamped by itself, they would hold stiff parts that turn.
        projected = step.friction is None
        at = self.minimize(self.initial_iterate(state.positions, state, step, report), step, report, projected)
        return Solution(at.x, at.deformation, at.deformation.stretch())


def replacing_step(
    solver: StepSolver, state: State, pin_targets: np.ndarray, time_step: float, loads: LoadsOrFactory
) -> tuple[State, StepReport]:
    """Return a step of implicit Euler by Newton's method, in the place of one of another solver whose matrix was not
    positive definite; the report says so.
    """
    newton = NewtonSolver(solver.model, solver.settings, solver.linear_solver)
    newton.integrator = solver.integrator  # whose history the state has
    new, report = newton.step_by(backward_euler.begin, state, pin_targets, time_step, loads)
    report.reason += f"{REDONE_BY}Implicit Euler and Newton FEM, as the matrix was not positive definite"
    return new, report
