"""Consistent mass matrix of linear tetrahedra: ``m_ab = rho V (1 + delta_ab) / 20`` for each coordinate alike."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp


def element_mass(masses: np.ndarray) -> np.ndarray:
    """Scalar element matrices of tets with masses (m,) in kg, (m,4,4)."""
    return masses[:, None, None] * (np.ones((4, 4)) + np.eye(4)) / 20.0


def mass_blocks(masses: np.ndarray) -> np.ndarray:
    """The same as element blocks (m,10,3,3), in the pair order of ``assembly.tangent_blocks``."""
    pairs = np.tril_indices(4)
    blocks = np.zeros((len(masses), 10, 3, 3))
    for i in range(3):
        blocks[:, :, i, i] = element_mass(masses)[:, pairs[0], pairs[1]]
    return blocks


def mass_matrix(tets: np.ndarray, masses: np.ndarray, vertex_count: int) -> sp.csr_matrix:
    """Scalar mass matrix, (n,n), kg; the full one is its Kronecker product with the 3 x 3 identity."""
    rows = np.repeat(tets, 4, axis=1).ravel()
    columns = np.tile(tets, (1, 4)).ravel()
    matrix = sp.csr_matrix((element_mass(masses).ravel(), (rows, columns)), shape=(vertex_count, vertex_count))
    matrix.sum_duplicates()
    matrix.sort_indices()
    return matrix
