"""Handles for given positions: the best fit of skinning to a simulation in any space. A handle is an affine
displacement H_k (4,3) that the weight w_k blends.

Displacements of points are fitted by ``sum_k w_k(p) (c(p) @ H_k)``. The products of weights and coordinates are nearly
dependent (a smooth weight times x is nearly another weight), so many handles fit equally well. The fit prefers small
ones: handles are stored in 32 bits, and the rounding errors of large handles that cancel each other would remain.
Displacements in the span are fitted exactly up to that rounding.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr

from .skinning import Coordinates
from .skinning_basis import skinning_columns

ROUNDING = float(np.finfo(np.float32).eps) / 2.0
"""Relative rounding error of a handle in 32 bits, which is also the ridge parameter of the fit: a handle may be larger
only if the fit improves by more than the additional rounding error.
"""


class HandleFit:
    """Least squares for one set of points, factorized once.

    Minimises ``mean |A H - d|² + ROUNDING² |H|²`` over handles H, where the rows of A (p, 4h) hold the products of
    weights and coordinates: a ridge, applied to the singular values of A.

    Parameters
    ----------
    rest : (p,3) rest positions; coordinates : Coordinates, in the same unit
    weights : (p,h) skinning weights of the order of 1
    """

    def __init__(self, rest: np.ndarray, weights: np.ndarray, coordinates: Coordinates) -> None:
        self._columns = skinning_columns(weights, coordinates.of(rest))
        Q, R = qr(self._columns, mode="economic", check_finite=False)
        U, sigma, Vt = np.linalg.svd(R)
        U, Vt = U[:, : len(sigma)], Vt[: len(sigma)]
        self._directions = Q @ U
        self._inverse = Vt.T * (sigma / (sigma**2 + len(rest) * ROUNDING**2))

    def coefficients(self, values: np.ndarray) -> np.ndarray:
        """Return the coefficients (4h,k) of the products of weights and coordinates that fit point values (p,k)."""
        return self._inverse @ (self._directions.T @ values)

    def handles(self, displacements: np.ndarray) -> np.ndarray:
        """Return handles (h,4,3) for displacements (p,3) of the points, in the same unit."""
        return self.coefficients(displacements).reshape(-1, 4, 3)

    def displacements(self, handles: np.ndarray) -> np.ndarray:
        """Return the displacements (p,3) of the points due to handles (h,4,3)."""
        return self._columns @ handles.reshape(-1, 3)
