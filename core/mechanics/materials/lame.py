"""Lamé parameters from Young's modulus and Poisson's ratio.

``mu = E / (2 (1 + nu))``, ``lambda = E nu / ((1 + nu) (1 - 2 nu))``. Trap: lambda diverges as nu approaches 1/2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ...foundation.errors import MaterialError


def lame_parameters(youngs_modulus: ArrayLike, poissons_ratio: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return the Lamé parameters mu and lambda, Pa.

    ``youngs_modulus``, Pa, and ``poissons_ratio`` are broadcast.

    Raises
    ------
    MaterialError
        A modulus is not positive, or a ratio not between -1 and 1/2 (both excluded).
    """
    E, nu = np.broadcast_arrays(np.asarray(youngs_modulus, dtype=float), np.asarray(poissons_ratio, dtype=float))
    if not (np.isfinite(E) & (E > 0.0)).all():
        raise MaterialError("Young's modulus is not positive everywhere.", "Set a modulus above 0 Pa.")
    if not ((nu > -1.0) & (nu < 0.5)).all():
        raise MaterialError(
            "Poisson's ratio is not between -1 and 0.5 everywhere.", "Set Poisson's ratio between 0 and 0.499."
        )
    return E / (2.0 * (1.0 + nu)), E * nu / ((1.0 + nu) * (1.0 - 2.0 * nu))


def youngs_modulus(mu: np.ndarray, lame: np.ndarray) -> np.ndarray:
    """Return Young's modulus from mu and lambda, Pa: ``mu (3 lambda + 2 mu) / (lambda + mu)``."""
    return mu * (3.0 * lame + 2.0 * mu) / (lame + mu)
