"""Best fit of skinning handles to given positions, from a simulation in any space.

A handle is an affine displacement H_k (4,3). The weight w_k blends the handle. Displacements of points p are fitted by
``sum_k w_k(p) (c(p) @ H_k)`` with homogeneous coordinates c(p). The products of weights and coordinates are nearly
dependent (a smooth weight times x is nearly another weight), so many sets of handles fit equally well. The fit prefers
small handles. Handles are stored in 32 bits, and the rounding errors of large handles remain where the handles
themselves cancel each other. Displacements that skinning can represent are fitted exactly up to rounding.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr

from .skinning import Coordinates
from .skinning_basis import skinning_columns

ROUNDING = float(np.finfo(np.float32).eps) / 2.0
"""Relative rounding error of a handle in 32 bits, and ridge parameter of the fit.

The ridge penalizes large handles. The fit therefore accepts larger handles only if the fit improves by more than the
rounding errors grow.
"""


class HandleFit:
    """Least-squares fit of handles to displacements of p points, with a matrix that is factorized once.

    Handles are affine displacements, blended by weights. The fit minimizes ``mean |A H - d|² + ROUNDING² |H|²`` over
    the handles H (4h,3) for displacements d (p,3): ridge regression by the SVD of A. The rows of A (p,4h) hold the
    products of weights and homogeneous coordinates.

    Parameters
    ----------
    rest : (p,3) rest positions
    weights : (p,h) skinning weights of the order of 1
    coordinates : Coordinates, the map from rest positions to homogeneous coordinates, in the same unit as ``rest``
    """

    def __init__(self, rest: np.ndarray, weights: np.ndarray, coordinates: Coordinates) -> None:
        self._columns = skinning_columns(weights, coordinates.of(rest))
        Q, R = qr(self._columns, mode="economic", check_finite=False)
        U, sigma, Vt = np.linalg.svd(R)
        U, Vt = U[:, : len(sigma)], Vt[: len(sigma)]
        self._directions = Q @ U
        self._inverse = Vt.T * (sigma / (sigma**2 + len(rest) * ROUNDING**2))

    def coefficients(self, values: np.ndarray) -> np.ndarray:
        """Return the coefficients (4h,k) of the best fit to k functions.

        ``values`` (p,k): values of the functions at the points. Each coefficient multiplies the product of a skinning
        weight and a homogeneous coordinate.
        """
        return self._inverse @ (self._directions.T @ values)

    def handles(self, displacements: np.ndarray) -> np.ndarray:
        """Return the handles (h,4,3) that best fit the ``displacements`` (p,3) of the points, in the same unit.

        A handle is an affine displacement. Skinning weights blend the handles.
        """
        return self.coefficients(displacements).reshape(-1, 4, 3)

    def displacements(self, handles: np.ndarray) -> np.ndarray:
        """Return the displacements (p,3) of the points due to ``handles`` (h,4,3), in the same unit.

        A handle is an affine displacement. Skinning weights blend the handles.
        """
        return self._columns @ handles.reshape(-1, 3)
