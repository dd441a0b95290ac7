"""Newton FEM: projected Newton on the incremental potential, with backtracking line search.

Reference method for the mixed ones ([MFEM22] Sec. 4): accurate when it converges, damped when it stops early.
"""

from __future__ import annotations

import numpy as np

from ...mechanics.forces.step_potential import LoadsOrFactory
from ...numerics.integrators import backward_euler
from ...numerics.optimization.step_report import REDONE_BY, StepReport
from ..model.state import State
from .incremental_potential import IncrementalPotential
from .step_solver import StepSolver
from .theta_extrapolation import Solution


class NewtonSolver(StepSolver):
    """Projected Newton with backtracking line search (reference method of [MFEM22] Sec. 4; projection: Teran et al.
    2005, "Robust quasistatic finite elements and flesh simulation"), in the full space or a subspace.

    1. Assemble gradient and Hessian of the incremental potential; clamp negative eigenvalues of each element.
    2. Factorise and solve ``H dx = -g``.
    3. Backtrack along dx by Armijo's condition, limited by CCD.
    4. Update lagged terms (friction, pin springs) after full steps.
    5. Repeat until the stop rule holds, then update lagged terms at the solution and continue if they changed.

    With ``stiffness_damping`` the Hessian is projected only if Cholesky fails. Settings: see :class:`StepSolver`.
    """

    def solve(self, state: State, step: IncrementalPotential, report: StepReport) -> Solution:
        """Solve a step, as :meth:`StepSolver.solve`."""
        # Internal friction balances relaxing stresses: clamped separately, the two would resist rotations of stiff
        # parts.
        projected = step.friction is None
        at = self.minimize(self.initial_iterate(state.positions, state, step, report), step, report, projected)
        return Solution(at.x, at.deformation, at.deformation.stretch())


def replacing_step(
    solver: StepSolver, state: State, pin_targets: np.ndarray, time_step: float, loads: LoadsOrFactory
) -> tuple[State, StepReport]:
    """Return a step of implicit Euler by Newton's method that replaces one whose matrix was not positive definite. The
    report states this.
    """
    newton = NewtonSolver(solver.model, solver.settings, solver.linear_solver)
    newton.integrator = solver.integrator  # the state has its history
    new, report = newton.step_by(backward_euler.begin, state, pin_targets, time_step, loads)
    report.reason += f"{REDONE_BY}Implicit Euler and Newton FEM, as the matrix was not positive definite"
    return new, report
