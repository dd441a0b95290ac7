"""Contact points at the end of a time step for rules that solve for a time within it and extrapolate."""

from __future__ import annotations

import numpy as np

from ...mechanics.forces.step_potential import Motion
from ...mechanics.forces.unilateral_springs import Points


class ExtrapolatedPoints:
    """Points of a body at the end of a step, extrapolated from the solver's unknowns after the fraction theta of the
    step. Forces and stiffnesses at the extrapolated points act on the unknowns by the chain rule.
    """

    def __init__(self, points: Points, motion: Motion) -> None:
        self._points, self._theta, self._start = points, motion.theta, points.positions(motion.x_prev)

    def positions(self, unknowns: np.ndarray) -> np.ndarray:
        """Return the extrapolated positions, (p,3) m."""
        return self._start + (self._points.positions(unknowns) - self._start) / self._theta

    def spread(self, forces: np.ndarray) -> np.ndarray:
        """Map forces (p,3) N at the points to forces at the unknowns."""
        return self._points.spread(forces / self._theta)

    def add_stiffness(self, K: np.ndarray, scale: float, blocks: np.ndarray) -> None:
        """Add ``scale`` times stiffnesses K (p,3,3) N/m at the points to a system's blocks."""
        self._points.add_stiffness(K, scale / self._theta**2, blocks)
