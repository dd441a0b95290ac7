"""Handles for given positions: the best fit of skinning to a simulation in any space.

Displacements of points are fitted by ``sum_k w_k(p) (c(p) @ H_k)``. The products of weights and coordinates are nearly
dependent (a smooth weight times x is nearly another weight), so many handles fit equally well. The fit prefers short
ones: handles are stored in 32 bits, and large ones that cancel each other would leave their rounding. Displacements in
the span are fitted exactly up to that rounding.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr

from .skinning import Coordinates
from .skinning_basis import skinning_columns

ROUNDING = float(np.finfo(np.float32).eps) / 2.0
"""Relative rounding of a handle in 32 bits, and the ridge of the fit: a unit of a handle's length may cost as much of
the fit at each point as its rounding does.
"""


class HandleFit:
    """Least squares for one set of points, factorized once.

    Minimises ``mean |A H - d|² + ROUNDING² |H|²`` over handles H, where the rows of A (p, 4h) hold the products of
    weights and coordinates: a ridge, applied to the singular values of A.

    Parameters
    ----------
    rest : (p,3); coordinates : Coordinates, in the same unit
    weights : (p,h) of the order of 1
    """

    def __init__(self, rest: np.ndarray, weights: np.ndarray, coordinates: Coordinates) -> None:
        self._columns = skinning_columns(weights, coordinates.of(rest))
        Q, R = qr(self._columns, mode="economic", check_finite=False)
        U, sigma, Vt = np.linalg.svd(R)
        U, Vt = U[:, : len(sigma)], Vt[: len(sigma)]
        self._directions = Q @ U
        self._inverse = Vt.T * (sigma / (sigma**2 + len(rest) * ROUNDING**2))

    def coefficients(self, values: np.ndarray) -> np.ndarray:
        """Return the coefficients of the products of weights and coordinates, (4h,k), that fit values (p,k) at the
        points.
        """
        return self._inverse @ (self._directions.T @ values)

    def handles(self, displacements: np.ndarray) -> np.ndarray:
        """Return handles (h,4,3) for displacements (p,3) of the points, in the same unit."""
        return self.coefficients(displacements).reshape(-1, 4, 3)

    def displacements(self, handles: np.ndarray) -> np.ndarray:
        """Return the displacements of the points by handles (h,4,3), (p,3)."""
        return self._columns @ handles.reshape(-1, 3)
