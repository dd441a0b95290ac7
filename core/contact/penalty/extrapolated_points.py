"""Points of a body at the end of a step that is extrapolated from a part of it."""

from __future__ import annotations

import numpy as np

from ...mechanics.forces.step_potential import Motion
from ...mechanics.forces.unilateral_springs import Points


class ExtrapolatedPoints:
    """Points (p,3) of unknowns after the part theta of a step, extrapolated to its end. Forces there act on the
    unknowns as the derivative of their potential.
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
