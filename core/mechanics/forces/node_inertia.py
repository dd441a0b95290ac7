"""Inertia of a few generalized displacements. ConJac (:mod:`...methods.solvers.conjac`) uses this inertia instead of
the inertia of a body's vertices.
"""

from __future__ import annotations

import numpy as np

from ..assembly.low_rank import LowRank
from .step_potential import LowRankPotential


class NodeInertia(LowRankPotential):
    """Inertia ``1/2 (q - q~) . M (q - q~) / step²`` of k generalized displacements q.

    The displacements are ``q = Y^T (x - start)`` at positions x.

    Parameters
    ----------
    along : Y (n,3,k), directions of the displacements
    mass : M (k,k), kg
    start : (n,3) m, ``Motion.base``
    predicted : q~ (k,) m, displacements that inertia predicts for the step
    step : duration, s
    """

    def __init__(
        self, along: np.ndarray, mass: np.ndarray, start: np.ndarray, predicted: np.ndarray, step: float
    ) -> None:
        self.low_rank = LowRank(along, mass / step**2)
        self._flat, self._start, self._speeds = along.reshape(3 * len(along), len(mass)), start, predicted

    def moved(self, positions: np.ndarray) -> np.ndarray:
        """Return the k generalized displacements ``Y^T (x - start)``, (k,) m, at ``positions`` x (n,3), m.

        Y (n,3,k) holds the directions of the displacements. ``start`` (n,3), m: vertex positions at zero displacement.
        """
        return (positions - self._start).ravel() @ self._flat

    def value(self, positions: np.ndarray) -> float:
        """Return the potential, J, at vertex ``positions`` (n,3) m."""
        away = self.moved(positions) - self._speeds
        return 0.5 * float(away @ self.low_rank.core @ away)

    def gradient(self, positions: np.ndarray) -> np.ndarray:
        """Return the gradient of the potential by the vertex positions, (n,3) N."""
        away = self.moved(positions) - self._speeds
        return (self._flat @ (self.low_rank.core @ away)).reshape(positions.shape)
