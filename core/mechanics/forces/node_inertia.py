"""Inertia of a few movements of a body, whose remaining movements are massless (:mod:`...methods.solvers.conjac`)."""

from __future__ import annotations

import numpy as np

from ..assembly.low_rank import LowRank
from .step_potential import LowRankPotential


class NodeInertia(LowRankPotential):
    """``1/2 (Y^T (x - start) - speeds) . M (Y^T (x - start) - speeds) / step²``.

    Parameters
    ----------
    along : Y (n,3,k), which maps displacements to movements
    mass : M (k,k), kg
    start : (n,3) m; speeds : (k,) m, predicted change of each movement in the step
    step : s
    """

    def __init__(self, along: np.ndarray, mass: np.ndarray, start: np.ndarray, speeds: np.ndarray, step: float) -> None:
        self.low_rank = LowRank(along, mass / step**2)
        self._flat, self._start, self._speeds = along.reshape(3 * len(along), len(mass)), start, speeds

    def moved(self, positions: np.ndarray) -> np.ndarray:
        """Return ``Y^T (x - start)`` (k,)."""
        return (positions - self._start).ravel() @ self._flat

    def value(self, positions: np.ndarray) -> float:
        """Return the potential, J."""
        away = self.moved(positions) - self._speeds
        return 0.5 * float(away @ self.low_rank.core @ away)

    def gradient(self, positions: np.ndarray) -> np.ndarray:
        """Return the gradient (n,3), N."""
        away = self.moved(positions) - self._speeds
        return (self._flat @ (self.low_rank.core @ away)).reshape(positions.shape)
