"""Potentials of points that are embedded in different tets, with Hessians of few points each."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..assembly.pairs import Pairs
from ..assembly.stencils import Stencils
from .step_potential import CrossElementPotential


class PointStencils(CrossElementPotential):
    """Potential whose Hessian consists of stencils of up to four points each, see :meth:`_stencils`.

    ``points``: the points as functions of the solver's unknowns.
    """

    def __init__(self, points: Any) -> None:
        self._points = points

    def _stencils(self, positions: np.ndarray) -> Stencils:
        """Return the Hessian, N/m, as stencils of the points. ``positions`` (n,3), m: of the vertices."""
        raise NotImplementedError

    def cross_element_hessian(self, positions: np.ndarray) -> Pairs:
        """Return the Hessian, N/m, as blocks per pair of tet vertices."""
        return self._points.pairs(self._stencils(positions))

    def add_stiffness(self, positions: np.ndarray, scale: float, blocks: np.ndarray) -> None:
        """Add ``scale`` times the Hessian to the matrix of a subspace; nothing in the full space."""
        if self._points.is_dense:
            self._points.add_coupling(self._stencils(positions).matrix(len(self._points)), scale, blocks)


class MergedPoints:
    """Points of one body as functions of the unknowns of several."""

    def __init__(self, own: Any, unknowns: int, vertices: slice) -> None:
        self._own, self._unknowns, self._vertices, self.is_dense = own, unknowns, vertices, own.is_dense

    def __len__(self) -> int:
        return len(self._own)

    def positions(self, x: np.ndarray) -> np.ndarray:
        """Return the positions of the points, (p,3) m."""
        return self._own.positions(x[self._vertices])

    def spread(self, forces: np.ndarray) -> np.ndarray:
        """Return the forces on the unknowns due to ``forces`` (p,3) at the points."""
        return padded(self._own.spread(forces), self._unknowns, self._vertices)

    def pairs(self, stiffness: Stencils) -> Pairs:
        """Convert a stiffness between the points to blocks per pair of unknowns."""
        own = self._own.pairs(stiffness)
        return own._replace(rows=own.rows + self._vertices.start, columns=own.columns + self._vertices.start)

    def add_coupling(self, K: Any, scale: float, matrix: np.ndarray) -> None:
        """Add a stiffness between the points, times ``scale``, to the ``matrix`` (3,r,3,r) of all bodies."""
        self._own.add_coupling(K, scale, matrix[:, self._vertices, :, self._vertices])


def padded(rows: np.ndarray, count: int, at: slice) -> np.ndarray:
    """Return an array of ``count`` rows that holds ``rows`` at the slice ``at``, and 0 elsewhere."""
    out = np.zeros((count, *rows.shape[1:]))
    out[at] = rows
    return out
