"""Linearly implicit FEM: one linear solve a step ([ConJac20] Eq. 10).

    (M + beta h² K) v = M v0 + h f,      x = x0 + h v

K is the projected stiffness ``-df/dx`` at the start of the step, f the forces there; beta = 1 is Baraff and Witkin's
rule, a larger beta damps. [ConJac20] writes K for ``df/dx``, hence its minus sign.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..assembly.deformation_gradient import deformation_gradients
from ..forces.step_potential import Load
from ..model.state import State
from ..optimization.report import StepReport
from .full_space import FullSpaceSolver
from .protocol import check_finite


class LinearlyImplicitSolver(FullSpaceSolver):
    """One linear solve a step, with the damping factor beta."""

    name = "linearly_implicit"
    label = "Linearly Implicit FEM"
    description = "One solve a step: fast and calm; wants small steps for lively motion"

    def step(
        self, state: State, pin_targets: np.ndarray, time_step: float, loads: Sequence[Load] = ()
    ) -> tuple[State, StepReport]:
        """One step. Pinned vertices move by what they are told; the others feel it through ``beta h² K``."""
        beta = self.settings.damping_factor
        report = StepReport(self.name, iterations=1, converged=True, reason="one linear solve")
        step = self.begin(state, time_step, loads)
        x0 = state.positions
        pin_move = np.zeros_like(x0)
        pin_move[self.model.pinned] = pin_targets - x0[self.model.pinned]
        with report.timed("assembly"):
            deformation = self.elastic.deformation(x0)
            tangent = self.elastic.tangent(deformation).scaled(beta)
            self.system.assemble_tangent(tangent, step.h**2, x0, step.potentials)
            dF = deformation_gradients(pin_move, self.model.mesh.tets, self.elastic.N)
            stress = self.elastic.stress(deformation) + tangent.stress_change(dF)
            # Residual of M (dx - h v0) + h² (beta K dx - f) at dx = the pins' movement.
            g = step.gradient(x0 + pin_move, stress)
        with report.timed("factorization"):
            self.system.factorize()
        with report.timed("solve"):
            dx = self.system.solve(-g) + pin_move
        check_finite(dx, "movement")
        x = x0 + dx
        with report.timed("local"):
            deformation = self.elastic.deformation(x)
            report.gradient_norm = self.gradient_norm(x, deformation, step)
        return self.finish(state, x, deformation.stretch(), step, time_step, report)
