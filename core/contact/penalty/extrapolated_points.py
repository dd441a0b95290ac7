"""Contact points at the end of a time step.

Some time integrators solve for positions within the step, from which the points are extrapolated.
"""

from __future__ import annotations

import numpy as np

from ...mechanics.forces.step_potential import Motion
from ...mechanics.forces.unilateral_springs import Points


class ExtrapolatedPoints:
    """Points of a body at the end of a step, extrapolated from the solver's unknowns.

    The solver's unknowns describe the body after the fraction theta of the step. The points at the end are extrapolated
    linearly. Forces and stiffnesses are mapped to the unknowns by the chain rule.
    """

    def __init__(self, points: Points, motion: Motion) -> None:
        self._points, self._theta, self._start = points, motion.theta, points.positions(motion.x_prev)

    def positions(self, unknowns: np.ndarray) -> np.ndarray:
        """Return the positions of the points at the end of the step, (p,3), m."""
        return self._start + (self._points.positions(unknowns) - self._start) / self._theta

    def spread(self, forces: np.ndarray) -> np.ndarray:
        """Return forces on the solver's unknowns from forces at the extrapolated points.

        ``forces`` (p,3), N.
        """
        return self._points.spread(forces / self._theta)

    def add_stiffness(self, K: np.ndarray, scale: float, blocks: np.ndarray) -> None:
        """Add ``scale`` times the stiffnesses of the extrapolated points to the blocks of the system matrix.

        ``K`` (p,3,3), N/m: stiffnesses.
        """
        self._points.add_stiffness(K, scale / self._theta**2, blocks)
