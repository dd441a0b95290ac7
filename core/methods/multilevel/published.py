"""Solver of [SMS25] (Trusty, Levin, Kaufman 2025, "Sparse, Geometry- and Material-Aware Bases for Multilevel
Elastodynamic Simulation"): inexact Newton iterations with three levels, as published.
"""

from __future__ import annotations

import numpy as np

from ...numerics.optimization.step_report import Iteration, StepReport
from ..solvers.newton import NewtonSolver
from ..subspaces.space import Space
from .multilevel_system import MultilevelSystem


class MultilevelSolver(NewtonSolver):
    """Inexact Newton's method whose search directions come from three levels ([SMS25] Algs. 1, 2).

    The incremental potential, contact, projection, line search and updates of lagged terms are those of
    :class:`NewtonSolver`. Hessians are recomputed in every iteration and summed over all tets: lagged Hessians and
    cubature save little here (``docs/benchmarks/multilevel.md``).

    Settings: ``handles`` per body; ``polishing``, 0 for 20 or 40 by the size of the clusters;
    ``subspace_tolerance``, m/s: if positive, a step ends by the criterion of the paper, ``|d_s| / (h n) < tolerance``
    with the subspace's part d_s of the direction and n vertices. Otherwise it ends by the stop rule of all solvers. The
    others are those of :class:`StepSolver`, except those of linear solvers.
    """

    keeps_projection = True

    def linear_system(self, model: Space) -> MultilevelSystem:
        """Return the linear system of a model, solved by three levels."""
        return MultilevelSystem(model, self.settings.handles, self.settings.polishing)

    def check_convergence(
        self,
        report: StepReport,
        iteration: Iteration,
        direction_size: float,
        h: float,
        magnitude: float,
        accepted: bool,
    ) -> None:
        """Record an iteration in the report, with the stop reason if it was the last one."""
        super().check_convergence(report, iteration, direction_size, h, magnitude, accepted)
        bound, part = self.settings.subspace_tolerance, self.system.subspace_part
        if bound > 0.0 and not report.converged and np.linalg.norm(part) < bound * h * len(part):
            report.converged = True
            report.reason = f"the subspace's direction is below {bound:g} m/s per vertex"
