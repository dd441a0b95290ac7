"""Inertia of a few movements of a body that is massless in all others (:mod:`...methods.solvers.conjac`)."""

from __future__ import annotations

import numpy as np

from ..assembly.low_rank import LowRank
from .step_potential import LowRankPotential


class NodeInertia(LowRankPotential):
    """Potential ``1/2 (Y^T (x - start) - speeds) . M (Y^T (x - start) - speeds) / step²`` of k movements.

    Parameters
    ----------
    along : Y (n,3,k); a displacement dx of the vertices has the movements ``Y^T dx``, (k,) m
    mass : M (k,k), kg
    start : (n,3) m, ``Motion.base``; speeds : (k,) m, movements from there that inertia predicts
    step : duration, s
    """

    def __init__(self, along: np.ndarray, mass: np.ndarray, start: np.ndarray, speeds: np.ndarray, step: float) -> None:
        self.low_rank = LowRank(along, mass / step**2)
        self._flat, self._start, self._speeds = along.reshape(3 * len(along), len(mass)), start, speeds

    def moved(self, positions: np.ndarray) -> np.ndarray:
        """Return the movements ``Y^T (x - start)`` (k,) m."""
        return (positions - self._start).ravel() @ self._flat

    def value(self, positions: np.ndarray) -> float:
        """Return the potential, J."""
        away = self.moved(positions) - self._speeds
        return 0.5 * float(away @ self.low_rank.core @ away)

    def gradient(self, positions: np.ndarray) -> np.ndarray:
        """Return the gradient (n,3), N."""
        away = self.moved(positions) - self._speeds
        return (self._flat @ (self.low_rank.core @ away)).reshape(positions.shape)
