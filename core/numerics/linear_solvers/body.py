"""Data of a body from which its linear systems are assembled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Body(NamedTuple):
    """Rest positions (n,3) m, tets (m,4), shape gradients N (m,4,3) 1/m, weights (m,) m³, masses (m,4) kg, shear moduli
    (m,) Pa, and pinned vertices (p,).
    """

    rest_positions: np.ndarray
    tets: np.ndarray
    N: np.ndarray
    weights: np.ndarray
    masses: np.ndarray
    shear_modulus: np.ndarray
    pinned: np.ndarray

    def free_numbers(self) -> np.ndarray:
        """Return the index of each vertex among the free vertices, -1 if it is pinned, (n,) int64."""
        free = np.ones(len(self.rest_positions), dtype=bool)
        free[self.pinned] = False
        return np.where(free, np.cumsum(free, dtype=np.int64) - 1, -1)
