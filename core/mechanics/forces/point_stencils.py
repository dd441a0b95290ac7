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
