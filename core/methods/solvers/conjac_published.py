"""ConJac as published ([ConJac20] Algorithm 1), for comparison with :mod:`.conjac`.

The index d stands for the nodes, which are single vertices here, and q for all other vertices. K is the projected
stiffness and f the forces, both at the step's beginning. J maps the velocities v_d of the nodes to the velocities of
all vertices. The rows q of J are ``J_qd = -K_qq^-1 K_qd``. A step computes

    J^T (M + beta h² K) J v_d = J^T (M v0 + h f)        (Eq. 11)
    x_d = x_d0 + h v_d,     x_q = x_q0 + h J_qd v_d - gamma K_qq^-1 f_q        (Eqs. 12, 13; f = -grad)

beta and gamma are settings of the solver: damping and stabilization. [ConJac20] writes K for ``df/dx``, hence its minus
signs. Pins move to their prescribed positions, and the quasistatic vertices follow through their forces.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from ...numerics.optimization.step_report import Iteration, StepReport
from ..model.nodes import Nodes, single_vertices
from ..model.state import State
from ..subspaces.space import Space
from .conjac import ConJacSolver
from .incremental_potential import IncrementalPotential
from .protocol import check_finite
from .theta_extrapolation import Solution


class PublishedConJacSolver(ConJacSolver):
    """ConJac's published step ([ConJac20] Algorithm 1).

    One linear solve yields the velocities of the nodes. ``corrections`` Newton steps of the quasistatic vertices
    follow, with the tangent factorised at the step's beginning. Unless gamma is 0, the first Newton step also uses the
    forces at the step's beginning.

    Settings: ``damping_factor`` is beta, the factor of the stiffness in Eq. 11. ``stabilization`` is gamma, the length
    of each Newton step. If gamma is 0, a line search sets the length of each Newton step, and each Newton step uses
    recomputed forces. ``corrections`` is the number of Newton steps. The other settings are those of
    :class:`StepSolver`, except ``integrator``.
    """

    def _nodes_of(self, model: Space) -> Nodes:
        nodes = super()._nodes_of(model)
        return single_vertices(nodes.centres, model.unknowns)

    def solve(self, state: State, step: IncrementalPotential, report: StepReport) -> Solution:
        """Return a step's solution by the published algorithm: a velocity solve, then quasistatic Newton steps."""
        beta, gamma = self.settings.damping_factor, self.settings.stabilization
        before, rigid = self.elastic.deformation(state.positions), self._rigid.components_at(state.positions)
        reduced = self._reduced_system(state, before, rigid, step, report, projected=True)
        # Rigid motions that leave the nodes at rest have no stiffness. Without any, the step is the paper's.
        balanced = rigid if reduced.T.shape[2] > 3 * len(self._nodes.centres) else []
        with report.timed("solve"):
            x, T = self.start(state.positions, step), reduced.T
            g = step.gradient_at(x, self.elastic.deformation(x, before))
            pull = np.tensordot(T, step.h * (self.model.mass @ state.velocities) - g, axes=((0, 1), (0, 1)))
            moved = scipy.linalg.solve(reduced.mass + beta * reduced.stiffness, pull, assume_a="pos")
            dx = T @ moved
        x = x + dx
        if gamma == 0.0:
            at = self.evaluate(x, step, before)
            x = self._quasistatic_correction(
                at, reduced, np.zeros_like(x), step, report, self.settings.corrections, refactorizes=False
            ).x
        while report.iterations < self.settings.corrections and not report.reason:
            correction = gamma * reduced.map.newton_step(self._rigid.balanced(g, balanced))
            x = x + correction
            decrement = -float((g * correction).sum())
            size = self.model.max_displacement(correction)[0]
            self.check_convergence(
                report, Iteration(float(np.linalg.norm(g)), decrement, decrement, 1.0, size), size, step.h, 0.0, True
            )
            g = step.gradient_at(x, self.elastic.deformation(x, before))
        check_finite(x, "position")
        deformation = self.elastic.deformation(x, before)
        return Solution(x, deformation, deformation.stretch(), dx / step.h)
