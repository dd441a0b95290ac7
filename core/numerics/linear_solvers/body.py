"""Data of a body from which its linear systems are assembled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Body(NamedTuple):
    """Mesh and material data of a body with n vertices and m tets.

    Attributes
    ----------
    rest_positions : (n,3), m
    tets : (m,4) vertex indices
    N : (m,4,3) gradients of the tets' shape functions, 1/m
    weights : (m,) volumes that multiply the elastic energy densities, m³
    masses : (m,4) mass of each tet by corner, kg
    shear_modulus : (m,), Pa
    pinned : (p,) indices of the pinned vertices
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
