"""Data of a body for the assembly of the body's linear systems."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...mechanics.assembly.elements import Elements
from ...mechanics.assembly.mass import element_mass
from ...mechanics.assembly.sparsity import BlockSparsity


class Body(NamedTuple):
    """Mesh and material data of a body with n vertices, m tets and e elements.

    Attributes
    ----------
    rest_positions : (n,3), m
    tets : (m,4) vertex indices
    elements : Elements
    weights : (e,) volumes that multiply the elastic energy densities, m³
    masses : (m,4) mass of each tet by corner, kg
    shear_modulus : (e,), Pa
    pinned : (p,) indices of the pinned vertices
    """

    rest_positions: np.ndarray
    tets: np.ndarray
    elements: Elements
    weights: np.ndarray
    masses: np.ndarray
    shear_modulus: np.ndarray
    pinned: np.ndarray

    @property
    def element_mass(self) -> np.ndarray:
        """Contribution of each element block to the mass matrix, (b,) kg, the same for x, y and z."""
        return self.elements.of_tets(element_mass(self.masses)[:, *np.tril_indices(4)])

    def sparsity(self) -> BlockSparsity:
        """Return the sparsity of the body's system matrix over its free vertices."""
        return BlockSparsity(self.elements.nodes, len(self.rest_positions), self.pinned)

    def free_numbers(self) -> np.ndarray:
        """Return the index of each vertex among the free vertices, (n,) int64. Pinned vertices have the index -1."""
        free = np.ones(len(self.rest_positions), dtype=bool)
        free[self.pinned] = False
        return np.where(free, np.cumsum(free, dtype=np.int64) - 1, -1)
