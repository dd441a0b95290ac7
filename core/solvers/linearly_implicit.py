"""Linearly implicit FEM: one linear solve a step ([ConJac20] Eq. 10).

    (M + beta h² K) v = M v0 + h f,      x = x0 + h v

K is the projected stiffness ``-df/dx`` at the start of the step, f the forces there; beta = 1 is Baraff and Witkin's
rule, a larger beta damps. [ConJac20] writes K for ``df/dx``, hence its minus sign.

Forces at the end of a step are not ``f - beta K (x - x0)``. What a Newton iteration would move for what they are beside
it is told with each step: the distance from the solution, within a factor of a few. It takes the stiffness at the end,
which is where the next step begins: its factor is used there, unless loads change it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..forces.step_potential import Load, linear_parts
from ..model.state import State
from ..optimization.report import Iteration, StepReport
from ..subspaces.space import Space
from .incremental_potential import IncrementalPotential
from .protocol import check_finite
from .step_solver import StepSolver

MOST_SOLVES = 6
"""Linear solves a step where loads (contact) change as the body moves."""

ROUGH = 1000.0
"""Tolerances that one solve may leave of a step that counts as settled: by default a hundredth of the body's size."""


class LinearlyImplicitSolver(StepSolver):
    """One linear solve a step, with the damping factor beta; a few where loads change within it, as contact does."""

    name = "linearly_implicit"
    label = "Linearly Implicit FEM"
    description = "One solve a step: fast and calm; wants small steps for lively motion"
    remedy = "raise Substeps"

    _factorized: tuple[np.ndarray, float, tuple[object, ...]] | None = None
    """Positions that the system holds the factor of, the step's length, and what the loads' stiffness is made of."""

    def follow_stiffness(self, model: Space) -> None:
        """Go on with the same body when its stiffness has changed."""
        super().follow_stiffness(model)
        self._factorized = None

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
        x = first = self.start(step.time.predicted, pin_targets)
        # Inner friction is linear from where inertia leads: from the start it would take turns for stretches.
        ahead = step.friction and self.elastic.deformation(first)
        parts = linear_parts(step.potentials)
        is_factorized = step.friction is None and self._holds(state.positions, step.h, parts)
        while not report.reason:
            with report.timed("assembly"):
                changed, added = stress + tangent.stress_change(self.elastic.change(x - state.positions)), None
                if step.friction is not None:
                    dF = self.elastic.change(x - first)
                    rubs, added = step.friction.linearized(ahead, dF, self.system.N, step.h**2)
                    changed += rubs
                g = step.gradient(x, changed)
                if not is_factorized:
                    self.system.assemble_tangent(tangent, step.h**2, x, step.potentials, added)
            with report.timed("factorization"):
                if not is_factorized:
                    self.system.factorize()
            is_factorized = False
            with report.timed("solve"):
                dx = self.system.solve(-g)
            check_finite(dx, "movement")
            x = x + dx
            self._judge_solve(dx, g, parts is None, step, report)
        with report.timed("local"):
            deformation = self.elastic.deformation(x)
            stress = step.stress(deformation)
            report.gradient_norm = float(np.linalg.norm(step.gradient(x, stress)))
        finished = self.finish(state, x, deformation.stretch(), step, time_step, report)
        with report.timed("assembly"):
            # What a beta beside one adds is meant.
            change = tangent.stress_change(self.elastic.change(x - state.positions))
            left = step.gradient(x, stress + (1.0 - 1.0 / beta) * change)
            tangent = self.elastic.tangent(deformation).scaled(beta)
            added = step.friction and step.friction.condensed(deformation, False, self.system.N, step.h**2)[1]
            self.system.assemble_tangent(tangent, step.h**2, x, step.potentials, added)
        with report.timed("factorization"):
            self.system.factorize()
        self._factorized = None if parts is None or step.friction is not None else (x, step.h, parts)
        with report.timed("solve"):
            self._judge_rest(self.system.solve(-left), left, step, report)
        return finished

    def _holds(self, positions: np.ndarray, h: float, parts: tuple[object, ...] | None) -> bool:
        if self._factorized is None or parts is None:
            return False
        at, length, made_of = self._factorized
        same = len(parts) == len(made_of) and all(a is b for a, b in zip(parts, made_of, strict=True))
        return same and length == h and np.array_equal(at, positions)

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
        missing = self.system.shortfall()
        # Where all is linear an exact solve leaves nothing to do.
        report.movement = size + missing.movement if changing else missing.movement
        settled = self.settled(missing.decrement + (decrement if changing else 0.0), report.movement, step.h)
        if settled:
            report.converged = True
            report.reason = settled if changing else "one linear solve"
        elif report.iterations == (MOST_SOLVES if changing else 1):
            solves = f"{MOST_SOLVES} linear solves" if changing else "one linear solve"
            report.reason = f"{solves} did not meet the tolerance"

    def _judge_rest(self, dx: np.ndarray, left: np.ndarray, step: IncrementalPotential, report: StepReport) -> None:
        """Whether what the linear solve left is little enough."""
        missing = self.system.shortfall()
        report.movement = self.model.farthest(dx)[0] + missing.movement
        decrement = missing.decrement - float(np.sum(left * dx))
        if report.converged and not self.settled(decrement / ROUGH**2, report.movement / ROUGH, step.h):
            report.converged = False
            share = report.movement / self.model.size
            report.reason = f"one linear solve left a movement by {share:.1%} of the body's size"
