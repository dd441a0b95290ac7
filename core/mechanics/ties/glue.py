"""Glue between two bodies: springs of rest length zero between points of one body and points of the other.

With the p points y of one body, the points z of the other and the stiffnesses k, the potential is
``1/2 sum_i k_i |y_i - z_i|²``. It is quadratic in the vertex positions, so that a constant matrix is its Hessian.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..assembly.pairs import Pairs
from ..assembly.stencils import Stencils, stencils_of
from ..forces.point_stencils import MergedPoints, PointStencils
from ..forces.step_potential import Motion


class Glue(PointStencils):
    """Springs of rest length zero between points of two bodies, as the load of one step and its potential.

    Parameters
    ----------
    points : the 2 p points, those of one body first; point i is glued to point p + i
    stiffness : (p,) N/m; 0 disables a spring
    """

    def __init__(self, points: Any, stiffness: np.ndarray) -> None:
        super().__init__(points)
        self._stiffness = stiffness
        self._pairs: Pairs | None = None

    def begin(self, _motion: Motion) -> Glue:
        """Return these springs, independent of the motion in the step."""
        return self

    def in_merged_model(self, unknowns: int, vertices: slice, _blocks: slice) -> Glue:
        """Return the potential as a function of the ``unknowns`` (a count) of a merged model of several bodies.

        ``vertices``: slice of the body's vertices in the merged model.
        """
        return Glue(MergedPoints(self._points, unknowns, vertices), self._stiffness)

    def elongations(self, positions: np.ndarray) -> np.ndarray:
        """Return the vector of each spring, from the second body to the first, (p,3) m.

        ``positions`` (n,3), m: vertex positions, or the unknowns of a subspace.
        """
        first, second = np.split(self._points.positions(positions), 2)
        return first - second

    def value(self, positions: np.ndarray) -> float:
        """Return the potential, J, at vertex ``positions`` (n,3) m."""
        away = self.elongations(positions)
        return 0.5 * float(np.sum(self._stiffness * np.sum(away * away, axis=1)))

    def gradient(self, positions: np.ndarray) -> np.ndarray:
        """Return the gradient of the potential by the vertex positions, (n,3) N."""
        force = self._stiffness[:, None] * self.elongations(positions)
        return self._points.spread(np.concatenate([force, -force]))

    def cross_element_hessian(self, positions: np.ndarray) -> Pairs:
        """Return the Hessian, N/m, as blocks per pair of tet vertices. It is constant."""
        if self._pairs is None:
            self._pairs = super().cross_element_hessian(positions)
        return self._pairs

    def _stencils(self, _positions: np.ndarray) -> Stencils:
        acts = np.flatnonzero(self._stiffness)
        p, rows = len(self._stiffness), np.arange(len(acts))
        ends = np.concatenate([np.ones(len(acts)), -np.ones(len(acts))])
        shares = sp.csr_matrix((ends, (np.tile(rows, 2), np.concatenate([acts, p + acts]))), (len(acts), 2 * p))
        return stencils_of(shares, self._stiffness[acts, None, None] * np.eye(3))
