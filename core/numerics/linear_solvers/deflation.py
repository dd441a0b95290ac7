"""Coarse space of the affine displacements of vertex groups, and the exact solution in the coarse space.

The coarse space has the basis W and the matrix ``E = W^T A W``. Deflation corrects the preconditioned residual y of a
residual r to ``y + W E^-1 W^T (r - A y)``. The iteration for ``A x = b`` starts at ``W E^-1 W^T b``. This is the method
A-DEF2 of Tang, Nabben, Vuik and Erlangga ("Comparison of Two-Level Preconditioners Derived from Deflation, Domain
Decomposition and Multigrid Methods", 2009). Plain deflation gives the same iterates in exact arithmetic, but loses
orthogonality at high ratios of stiffness. [MFEM22] Sec. 3.6 starts in the affine space of the whole body (Lan et al.,
"Affine Body Dynamics", 2022) without correcting residuals afterwards.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ...foundation.kernels.jit import kernel
from ...mechanics.assembly.block_rows import BlockRows
from ...mechanics.assembly.low_rank import LowRank

DEGENERATE = 1e-6
"""Least relative norm of a basis function after orthogonalisation against the earlier functions of its group. Functions
with a smaller norm are omitted; flat groups have such functions.
"""


class AffineDeflation:
    """Coarse space of the affine displacements of groups of free vertices.

    Parameters
    ----------
    groups : (f,) group of each free vertex, from 0
    positions : (f,3) rest positions of the free vertices
    """

    def __init__(self, groups: np.ndarray, positions: np.ndarray) -> None:
        self.groups = groups
        self.count = int(groups.max(initial=-1)) + 1
        self._basis = affine_basis(groups, positions, self.count)
        self._missing = np.ones((self.count, 4, 3), dtype=bool)
        for j in range(4):
            used = np.bincount(groups, weights=self._basis[:, j] != 0.0, minlength=self.count)
            self._missing[used > 0, j] = False
        self._factor = np.eye(12 * self.count)
        columns, rows = np.indices(self._basis.shape)
        of_functions = (self._basis.ravel(), ((4 * groups[:, None] + rows).ravel(), columns.ravel()))
        self._restriction = sp.csr_matrix(of_functions, shape=(4 * self.count, len(groups)))

    def factorize(
        self, A: BlockRows, low_rank: LowRank | None = None, pairs: sp.csr_matrix | None = None
    ) -> int | None:
        """Factorise the coarse matrix ``W^T S W``; return None, or the index of a group where the factorisation fails.

        The columns of W are the affine displacements of the groups. S (3f,3f) is the system matrix of the f free
        vertices, the sum of the arguments. The factorisation fails if the coarse matrix is not positive definite.

        ``A``: matrix assembled from element matrices. ``low_rank``: matrix of low rank, or None. ``pairs`` (3f,3f):
        matrix that couples vertices in contact, or None.
        """
        E = np.zeros_like(self._factor)
        _coarse_matrix(A.starts, A.columns, A.values, self.groups, self._basis, E)
        if low_rank is not None:
            Y, C = low_rank
            rows = (self._restriction @ Y.reshape(len(Y), -1)).reshape(len(E), -1)
            E += rows @ C @ rows.T
        if pairs is not None:
            rows = sp.kron(self._restriction, sp.eye(3), format="csr")
            E += (rows @ pairs @ rows.T).toarray()
        # A group that lies in a plane has fewer affine functions: its unused rows get ones on the diagonal.
        E[np.diag_indices(len(E))] += self._missing.ravel()
        weak = _cholesky(E)
        self._factor = E
        return None if weak < 0 else weak // 12

    def correction(self, residual: np.ndarray) -> np.ndarray:
        """Return the solution (f,3) in the coarse space for a ``residual`` (f,3)."""
        return _correct(self._factor, self.groups, self._basis, residual)


def affine_basis(groups: np.ndarray, positions: np.ndarray, count: int) -> np.ndarray:
    """Return the basis of the groups' affine displacements, (f,4).

    Each row holds the values of the functions 1, x, y and z at a vertex. The functions are made orthonormal, in this
    order, over the vertices of each group. In a flat group the functions are linearly dependent, and a function that
    depends on the preceding ones is set to 0. ``groups`` (f,): index of each vertex's group, below ``count``.
    ``positions`` (f,3): positions of the vertices.
    """
    basis = np.zeros((len(groups), 4))
    for g in range(count):
        at = np.flatnonzero(groups == g)
        X = positions[at] - positions[at].mean(axis=0)
        X /= max(float(np.abs(X).max()), np.finfo(float).tiny)
        found: list[np.ndarray] = []
        for j, function in enumerate((np.ones(len(at)), X[:, 0], X[:, 1], X[:, 2])):
            length = np.sqrt(len(at))
            rest = function
            for _ in range(2):  # twice is enough (Giraud et al., "The loss of orthogonality in Gram-Schmidt", 2005)
                for q in found:
                    rest = rest - np.sum(q * rest) * q
            size = np.sqrt(np.sum(rest**2))
            if size > DEGENERATE * length:
                found.append(rest / size)
                basis[at, j] = found[-1]
    return basis


@kernel
def _coarse_matrix(starts, columns, values, groups, basis, E):
    """Add the lower triangle of the coarse matrix ``W^T A W`` to E, for a matrix A in block rows (:class:`BlockRows`).

    Function j of group g along axis i has the index ``12 g + 3 j + i`` in E.
    """
    G = E.shape[0] // 12
    slot = np.full(G, -1, dtype=np.int64)
    near = np.empty(G, dtype=np.int64)
    Y = np.empty((G, 3, 12))
    for v in range(starts.shape[0] - 1):
        g = groups[v]
        count = 0
        for b in range(starts[v], starts[v + 1]):
            u = columns[b]
            h = groups[u]
            if h > g:
                continue
            if slot[h] < 0:
                slot[h] = count
                near[count] = h
                Y[count, :, :] = 0.0
                count += 1
            s = slot[h]
            for r in range(3):
                for j in range(4):
                    for c in range(3):
                        Y[s, r, 3 * j + c] += values[b, r, c] * basis[u, j]
        for s in range(count):
            h = near[s]
            slot[h] = -1
            for j in range(4):
                for r in range(3):
                    row = 12 * g + 3 * j + r
                    for k in range(12):
                        E[row, 12 * h + k] += basis[v, j] * Y[s, r, k]


@kernel
def _cholesky(E):
    """Factorise E (n,n) into ``U^T U`` in place; return -1, or the index of the first pivot that is not positive.

    E is given by its lower triangle and receives U in its upper triangle.
    """
    n = E.shape[0]
    for i in range(n):
        for j in range(i):
            E[j, i] = E[i, j]
    # Eliminate by rows of the upper triangle, so that inner loops run along memory.
    for k in range(n):
        pivot = E[k, k]
        if not pivot > 0.0:
            return k
        root = np.sqrt(pivot)
        for j in range(k, n):
            E[k, j] /= root
        for i in range(k + 1, n):
            factor = E[k, i]
            if factor != 0.0:
                for j in range(i, n):
                    E[i, j] -= factor * E[k, j]
    return -1


@kernel
def _correct(U, groups, basis, residual):
    """Return the solution in the coarse space, ``W (U^T U)^-1 W^T r``, (f,3), for a ``residual`` r (f,3).

    ``U``: upper Cholesky factor of the coarse matrix. The columns of W are the affine displacements of the groups.
    """
    n = U.shape[0]
    c = np.zeros(n)
    for v in range(residual.shape[0]):
        at = 12 * groups[v]
        for j in range(4):
            for i in range(3):
                c[at + 3 * j + i] += basis[v, j] * residual[v, i]
    for k in range(n):
        c[k] /= U[k, k]
        for j in range(k + 1, n):
            c[j] -= U[k, j] * c[k]
    for k in range(n - 1, -1, -1):
        total = c[k]
        for j in range(k + 1, n):
            total -= U[k, j] * c[j]
        c[k] = total / U[k, k]
    out = np.empty_like(residual)
    for v in range(residual.shape[0]):
        at = 12 * groups[v]
        for i in range(3):
            out[v, i] = (
                basis[v, 0] * c[at + i]
                + basis[v, 1] * c[at + 3 + i]
                + basis[v, 2] * c[at + 6 + i]
                + basis[v, 3] * c[at + 9 + i]
            )
    return out
