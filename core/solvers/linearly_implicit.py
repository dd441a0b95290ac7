"""Linearly implicit FEM: one linear solve a step ([ConJac20] Eq. 10).

    (M + beta h² K) v = M v0 + h f,      x = x0 + h v

K is the projected stiffness ``-df/dx`` at the start of the step, f the forces there; beta = 1 is Baraff and Witkin's
rule, a larger beta damps. [ConJac20] writes K for ``df/dx``, hence its minus sign.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..forces.step_potential import Load
from ..model.state import State
from ..optimization.report import Iteration, StepReport
from .incremental_potential import IncrementalPotential
from .protocol import check_finite
from .step_solver import StepSolver

MOST_SOLVES = 6
"""Linear solves a step where loads (contact) change as the body moves."""


class LinearlyImplicitSolver(StepSolver):
    """One linear solve a step, with the damping factor beta; a few where loads such as contact change within it."""

    name = "linearly_implicit"
    label = "Linearly Implicit FEM"
    description = "One solve a step: fast and calm; wants small steps for lively motion"

    def step(
        self, state: State, pin_targets: np.ndarray, time_step: float, loads: Sequence[Load] = ()
    ) -> tuple[State, StepReport]:
        """One step. Pinned vertices move by what they are told; the others feel it through ``beta h² K``."""
        beta = self.settings.damping_factor
        report = StepReport(self.name)
        step = self.begin(state, time_step, loads)
        with report.timed("assembly"):
            deformation = self.elastic.deformation(state.positions)
            stress = self.elastic.stress(deformation)
            tangent = self.elastic.tangent(deformation).scaled(beta)
        # The solution does not depend on where the linear forces are evaluated; contact wants to see what is coming.
        x = self.start(step.time.predicted, pin_targets)
        while not report.reason:
            with report.timed("assembly"):
                change = tangent.stress_change(self.elastic.change(x - state.positions))
                g = step.gradient(x, stress + change)
                self.system.assemble_tangent(tangent, step.h**2, x, step.potentials)
            with report.timed("factorization"):
                self.system.factorize()
            with report.timed("solve"):
                dx = self.system.solve(-g)
            check_finite(dx, "movement")
            x = x + dx
            self._judge_solve(dx, g, bool(loads), step, report)
        with report.timed("local"):
            deformation = self.elastic.deformation(x)
            report.gradient_norm = self.gradient_norm(x, deformation, step)
        return self.finish(state, x, deformation.stretch(), step, time_step, report)

    def _judge_solve(
        self, dx: np.ndarray, g: np.ndarray, loaded: bool, step: IncrementalPotential, report: StepReport
    ) -> None:
        """Whether the linear solve was the last one: loads that touch or let go ask for another."""
        size = self.model.farthest(dx)[0]
        decrement = -float(np.sum(g * dx))
        report.iterations += 1
        report.history.append(Iteration(float(np.linalg.norm(g)), decrement, decrement, 1.0, size))
        missing = self.system.shortfall()
        # Without loads an exact solve leaves nothing to do.
        report.movement = size + missing.movement if loaded else missing.movement
        settled = self.settled(missing.decrement + (decrement if loaded else 0.0), report.movement, step.h)
        if settled:
            report.converged = True
            report.reason = settled if loaded else "one linear solve"
        elif report.iterations == (MOST_SOLVES if loaded else 1):
            solves = f"{MOST_SOLVES} linear solves" if loaded else "one linear solve"
            report.reason = f"{solves} did not meet the tolerance"
