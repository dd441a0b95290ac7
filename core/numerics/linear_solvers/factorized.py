"""Cholesky factorisation of any sparse, or small dense, symmetric positive-definite matrix."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lapack

from ...foundation.kernels.jit import inner_kernel, kernel
from ...mechanics.assembly.sparsity import NONE, Pattern
from .blas import one_blas_thread
from .protocol import DirectSolver


def factorized(A: sp.spmatrix, solver: type[DirectSolver], vertices: Pattern | None = None) -> DirectSolver:
    """Return a direct solver that holds the factor of A (n,n).

    ``solver``: class of the direct solver. ``vertices``: pattern of the body, to be given if each vertex has several
    unknowns. The fill-reducing order is then computed on the smaller graph of vertices. Raises FactorizationError if A
    is not positive definite.
    """
    lower = sp.tril(A, format="csc")
    lower.sum_duplicates()  # sorts the rows too
    starts, rows = lower.indptr.astype(np.int64), lower.indices.astype(np.int64)
    graph = (starts, rows) if vertices is None else (vertices.block_starts, vertices.block_rows)
    holder = solver(Pattern(np.arange(len(graph[0]) - 1), starts, rows, *graph))
    holder.factorize(lower.data)
    return holder


class DenseFactor(NamedTuple):
    """Factor L of a matrix ``A = L L^T``, in the lower triangle of an array (m,m), for :func:`solve_dense`.

    ``first`` (m,): first column of each row that is not zero in A, nor in L.
    """

    L: np.ndarray
    first: np.ndarray


def factorized_dense(A: np.ndarray) -> tuple[DenseFactor, int | None]:
    """Return the factor of a dense matrix A (m,m), and None.

    If A is not positive definite, the second result is the row at which the factorisation breaks down. The lower
    triangle of A is read, and A is overwritten.
    """
    if not len(A):
        return DenseFactor(A, NONE), None
    first = np.empty(len(A), dtype=np.int64)
    _find_first(A, first)
    with one_blas_thread():
        factor, weak = lapack.dpotrf(A.T, clean=False, overwrite_a=True)
    return DenseFactor(factor.T, first), int(weak) - 1 if weak else None


@kernel
def _find_first(A, first):
    """Set ``first`` to the first column of each row of A that is not zero, at most the diagonal."""
    for i in range(len(A)):
        j = 0
        while j < i and A[i, j] == 0.0:
            j += 1
        first[i] = j


@inner_kernel
def solve_dense(factor, x):
    """Replace x (m,) by ``A^-1 x``, for the :class:`DenseFactor` of A."""
    L, first = factor
    for i in range(len(x)):
        # Four sums, since each addition waits for the one before it.
        s0, s1, s2, s3 = x[i], 0.0, 0.0, 0.0
        whole = first[i] + (i - first[i]) // 4 * 4
        for j in range(first[i], whole, 4):
            s0 -= L[i, j] * x[j]
            s1 -= L[i, j + 1] * x[j + 1]
            s2 -= L[i, j + 2] * x[j + 2]
            s3 -= L[i, j + 3] * x[j + 3]
        for j in range(whole, i):
            s0 -= L[i, j] * x[j]
        x[i] = ((s0 + s1) + (s2 + s3)) / L[i, i]
    for i in range(len(x) - 1, -1, -1):
        x[i] /= L[i, i]
        for j in range(first[i], i):
            x[j] -= L[i, j] * x[i]
