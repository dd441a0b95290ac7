"""Harmonic extension on tetrahedra: interpolation of prescribed vertex values into the mesh.

Minimises the Dirichlet energy ``1/2 int |grad phi|^2`` over linear tets [Pinkall, Polthier 1993]. The minimum satisfies
``K phi = 0`` at the free vertices, with the matrix K of the discrete Laplacian. Without dihedral angles above 90
degrees, as in the lattice, K has no positive off-diagonal entry and the maximum principle holds exactly; on other
meshes the caller clips the result. The result is invariant to scale and translation of the mesh.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator, cg

from ...foundation.errors import MaterialError
from ...geometry.mesh.tet_mesh import TetMesh

TOLERANCE = 1e-10


def extend_harmonically(mesh: TetMesh, known: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Extend values from some vertices to all others by harmonic interpolation.

    Parameters
    ----------
    mesh : TetMesh, n vertices
    known : (n,) bool
        Mask of the vertices with prescribed values.
    values : (n, k) float64
        Prescribed values; other rows are ignored.

    Returns
    -------
    values : (n, k) float64
    reached : (n,) bool
        False for vertices of connected components without a known value; their values are 0.

    Raises
    ------
    MaterialError
        The solver did not converge (tets without volume).
    """
    K = stiffness(mesh)
    labels = connected_components(K, directed=False)[1]
    reached = np.isin(labels, labels[known])
    result = np.where(known[:, None], values, 0.0)
    free = reached & ~known
    if free.any():
        inner = K[free]
        A, load = inner[:, free], -inner[:, known] @ result[known]
        inverse_diagonal = 1.0 / A.diagonal()
        preconditioner = LinearOperator(A.shape, matvec=lambda r: inverse_diagonal * r.ravel())
        for column in range(values.shape[1]):
            start = np.full(A.shape[0], result[known, column].mean())
            result[free, column] = _solve(A, load[:, column], start, preconditioner)
    return result, reached


def stiffness(mesh: TetMesh) -> scipy.sparse.csr_matrix:
    """Return the finite-element matrix of the Laplacian, (n, n), with lengths divided by the mesh's size.

    The matrix of a tet of volume V is ``K_ab = n_a . n_b / (36 V)``; n_a is the normal of the face opposite to corner
    a, with twice the face's area as its length.
    """
    p = mesh.rest_positions[mesh.tets]
    e = (p[:, 1:] - p[:, :1]) / mesh.size
    inner = np.stack([np.cross(e[:, 1], e[:, 2]), np.cross(e[:, 2], e[:, 0]), np.cross(e[:, 0], e[:, 1])], axis=1)
    normals = np.concatenate([-inner.sum(axis=1, keepdims=True), inner], axis=1)
    volumes = np.einsum("ni,ni->n", e[:, 0], inner[:, 0]) / 6.0
    local = np.einsum("nai,nbi->nab", normals, normals) / (36.0 * volumes[:, None, None])
    rows, columns = np.repeat(mesh.tets, 4, axis=1).ravel(), np.tile(mesh.tets, (1, 4)).ravel()
    n = len(mesh.rest_positions)
    return scipy.sparse.coo_matrix((local.ravel(), (rows, columns)), shape=(n, n)).tocsr()


def _solve(A: scipy.sparse.csr_matrix, b: np.ndarray, start: np.ndarray, preconditioner: LinearOperator) -> np.ndarray:
    solution, failed = cg(A, b, x0=start, rtol=TOLERANCE, atol=0.0, maxiter=20_000, M=preconditioner)
    if failed or not np.isfinite(solution).all():
        raise MaterialError(
            "The painted weights could not be transferred into the body.",
            "Change the body's resolution: some of its tets have no volume.",
        )
    return solution
