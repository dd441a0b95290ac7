"""Mass matrix of linear tetrahedra, the same for each coordinate.

A tet of mass m with its centre of mass at barycentric coordinates c has ``m_ab = m (4/5 c_a c_b + 1/5 delta_ab c_a)``.
The matrix preserves mass, momentum and weight of the material in the tet. For full tets, c = 1/4, the matrix is the
consistent ``m (1 + delta_ab) / 20``. For partially filled tets, the second moment about the centre of mass is that of a
full tet.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ...foundation.kernels.jit import parallel_kernel


def element_mass(masses: np.ndarray) -> np.ndarray:
    """Return the mass matrix of each tet, (m,4,4) kg, the same for x, y and z.

    ``masses`` (m,4), kg: corner masses. A corner mass is the mass of the tet times the barycentric coordinate of the
    tet's centre of mass at the corner.
    """
    total = masses.sum(axis=1)[:, None, None]
    products = masses[:, :, None] * masses[:, None, :]
    return 0.8 * np.divide(products, total, out=products, where=total > 0.0) + 0.2 * masses[:, None] * np.eye(4)


def mass_matrix(tets: np.ndarray, masses: np.ndarray, vertex_count: int) -> sp.csr_matrix:
    """Return the mass matrix of a mesh, (n,n) kg, the same for x, y and z.

    ``tets`` (m,4): vertex indices. ``masses`` (m,4), kg: corner masses as in :func:`element_mass`. ``vertex_count``: n.
    The mass matrix of all coordinates is the Kronecker product of the result with the 3 x 3 identity.
    """
    rows = np.repeat(tets, 4, axis=1).ravel()
    columns = np.tile(tets, (1, 4)).ravel()
    matrix = sp.csr_matrix((element_mass(masses).ravel(), (rows, columns)), shape=(vertex_count, vertex_count))
    matrix.sum_duplicates()
    matrix.sort_indices()
    return matrix


def mass_times(mass: sp.csr_matrix | np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return the product (n,3) of a mass matrix (n,n), sparse or dense, with x (n,3). Threads share the rows."""
    if not sp.issparse(mass):
        return mass @ x
    out = np.empty_like(x)
    _multiply(len(x), mass.indptr, mass.indices, mass.data, x, out)
    return out


@parallel_kernel
def _multiply(begin, end, starts, columns, values, x, out):
    for v in range(begin, end):
        for i in range(3):
            total = 0.0
            for k in range(starts[v], starts[v + 1]):
                total += values[k] * x[columns[k], i]
            out[v, i] = total
