"""The three levels of [SMS25] Alg. 2 as one approximate solution of a body's linear system ``A x = b``.

1. Affine: per connected component, 12 unknowns, ``(Ua^T A Ua) q = Ua^T b``.
2. Sparse subspace: 12 unknowns per handle, ``(Us^T A Us) q = Us^T r`` with the residual r of level 1.
3. Polishing: a fixed number of iterations on A itself, with the residual of level 2.

Levels 1 and 2 are solved to a relative residual of 1e-4. Every level is preconditioned conjugate gradients with the
diagonal blocks (12 x 12, or one entry) of its matrix, which is never assembled. Each level lowers the quadratic model
``1/2 x.A x - b.x``, so x is a descent direction. Algorithms 1 and 2 of the paper lack the minus sign of Eq. 6: here b
is minus the gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ...foundation.kernels.jit import parallel_kernel
from ...mechanics.assembly.block_rows import BlockRows
from ...mechanics.assembly.low_rank import LowRank
from ...numerics.linear_solvers.conjugate_gradient import smallest_ritz_value

SUBSPACE_RESIDUAL = 1e-4
"""Relative residual to which the systems of levels 1 and 2 are solved ([SMS25] Sec. 3.7.1)."""

MOST_ITERATIONS = 1000
"""Largest number of iterations of levels 1 and 2. Stiff bodies with coarse handles may need them."""

RIDGE = 1e-10
"""Diagonal added to the blocks of the preconditioner, relative to their diagonal: a handle of few vertices has
dependent columns.
"""


class ConjugateGradientResult(NamedTuple):
    """Result of conjugate gradients: solution, residual, and the coefficients of the Lanczos matrix.

    ``x``, ``r``: solution and residual, of the shape of the right-hand side. ``lengths``, ``ratios``: step lengths, and
    ratios of successive values of ``r . P^-1 r``.
    """

    x: np.ndarray
    r: np.ndarray
    lengths: list[float]
    ratios: list[float]

    @property
    def smallest_eigenvalue(self) -> float:
        """Smallest Ritz value of the preconditioned matrix; 1 without an iteration."""
        return smallest_ritz_value(np.array(self.lengths), np.array(self.ratios))


def conjugate_gradients(
    times: Callable[[np.ndarray], np.ndarray],
    precondition: Callable[[np.ndarray], np.ndarray],
    b: np.ndarray,
    iterations: int,
    relative_residual: float,
) -> ConjugateGradientResult:
    """Return the solution of ``A x = b`` by preconditioned conjugate gradients from 0.

    ``times``: product with A. ``precondition``: product with the inverse of the preconditioner. The iteration ends
    after ``iterations``, at the relative residual, or at a direction of curvature that is not positive.
    """
    x, r = np.zeros_like(b), b.copy()
    lengths: list[float] = []
    ratios: list[float] = []
    bound, p, before = relative_residual**2 * float(np.sum(b * b)), np.zeros_like(b), 1.0
    for _ in range(iterations):
        if not float(np.sum(r * r)) > bound:
            break
        z = precondition(r)
        work = float(np.sum(r * z))
        p = z + (work / before) * p if lengths else z
        Ap = times(p)
        curvature = float(np.sum(p * Ap))
        if not (curvature > 0.0 and work > 0.0):
            break
        if lengths:
            ratios.append(work / before)
        lengths.append(work / curvature)
        x = x + (work / curvature) * p
        r = r - (work / curvature) * Ap
        before = work
    return ConjugateGradientResult(x, r, lengths, ratios)


class SystemMatrix:
    """Matrix of a body's free vertices: block rows of elements and contact pairs, and a low-rank term."""

    def __init__(self, rows: BlockRows, low_rank: LowRank | None) -> None:
        self.rows, self.low_rank = rows, low_rank

    def times(self, x: np.ndarray) -> np.ndarray:
        """Return the product (f,3) with a vector (f,3)."""
        out = self.rows.times(x)
        return out if self.low_rank is None else out + self.low_rank.times(x)

    @property
    def diagonal(self) -> np.ndarray:
        """Diagonal, (f,3), without the low-rank term."""
        return np.einsum("fii->fi", self.rows.diagonal_blocks()).copy()


class SubspaceLevel:
    """Level of the solver whose unknowns are affine handles.

    ``basis`` (f,4m): scalar basis over the free vertices. Handles have the columns 4 i to 4 i + 3.
    """

    def __init__(self, basis: sp.csr_matrix) -> None:
        self._A, self._At = basis, basis.T.tocsr()
        self.count = basis.shape[1] // 4
        by_handle = self._At[::4]
        self._starts, self._vertices = (each.astype(np.int64) for each in (by_handle.indptr, by_handle.indices))
        rows = np.repeat(np.arange(self.count), np.diff(self._starts))
        columns = 4 * rows[:, None] + np.arange(4)
        values = basis[np.repeat(self._vertices, 4), columns.ravel()] if len(rows) else np.zeros(0)
        self._values = np.ascontiguousarray(np.asarray(values).reshape(-1, 4))
        self._inverse = np.zeros((self.count, 12, 12))
        self.iterations = 0

    def prepare(self, matrix: SystemMatrix) -> bool:
        """Invert the diagonal blocks of the level's matrix. Return False if a block is not positive definite."""
        blocks = np.zeros((self.count, 12, 12))
        handles, n, arrays = (self._starts, self._vertices, self._values), self._A.shape[0], matrix.rows.arrays()
        for part in (arrays[:3], arrays[3:]):
            _add_blocks(self.count, *handles, n, *part, blocks)
        ridge = RIDGE * np.einsum("kii->ki", blocks)
        blocks[:, np.arange(12), np.arange(12)] += np.maximum(ridge, ridge.max(axis=1, initial=0.0, keepdims=True))
        try:
            np.linalg.cholesky(blocks)
        except np.linalg.LinAlgError:
            return False
        self._inverse = np.linalg.inv(blocks)
        return True

    def correction(self, matrix: SystemMatrix, residual: np.ndarray) -> np.ndarray:
        """Return the displacement (f,3) of the level for a residual (f,3)."""
        found = conjugate_gradients(
            lambda q: self._At @ matrix.times(self._A @ q),
            self._preconditioned,
            self._At @ residual,
            MOST_ITERATIONS,
            SUBSPACE_RESIDUAL,
        )
        self.iterations = len(found.lengths)
        return self._A @ found.x

    def _preconditioned(self, q: np.ndarray) -> np.ndarray:
        """Return the product of the inverse blocks with q (4m,3). A block orders its unknowns by axis."""
        by_handle = q.reshape(self.count, 4, 3).transpose(0, 2, 1).reshape(self.count, 12)
        out = np.einsum("kij,kj->ki", self._inverse, by_handle)
        return out.reshape(self.count, 3, 4).transpose(0, 2, 1).reshape(q.shape)


@parallel_kernel
def _add_blocks(begin, end, starts, vertices, weights, count, row_starts, columns, values, out):
    """Add the diagonal blocks ``A_i^T H A_i`` (12,12) of handles i, for H in block rows of 3 x 3."""
    at = np.full(count, -1)
    T = np.empty((3, 3, 4))
    for i in range(begin, end):
        for k in range(starts[i], starts[i + 1]):
            at[vertices[k]] = k
        for k in range(starts[i], starts[i + 1]):
            v = vertices[k]
            T[:] = 0.0
            for block in range(row_starts[v], row_starts[v + 1]):
                other = at[columns[block]]
                if other >= 0:
                    for a in range(3):
                        for b in range(3):
                            for c in range(4):
                                T[a, b, c] += values[block, a, b] * weights[other, c]
            for a in range(3):
                for b in range(3):
                    for c in range(4):
                        for d in range(4):
                            out[i, 4 * a + c, 4 * b + d] += weights[k, c] * T[a, b, d]
        for k in range(starts[i], starts[i + 1]):
            at[vertices[k]] = -1
