"""Cholesky factorisation of any sparse, or small dense, symmetric positive-definite matrix."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lapack

from ...foundation.kernels.jit import inlined, inner_kernel, kernel
from ...mechanics.assembly.sparsity import NONE, Pattern
from .blas import one_blas_thread
from .protocol import DirectSolver

LAPACK_GAIN = 4.0
"""Speed of LAPACK's dense factorisation over that of :func:`_factorize_rows`, for the same number of operations."""


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
    factor = DenseFactor(A, first)
    begin = _first_sparse_row(first)
    with one_blas_thread():
        leading, weak = lapack.dpotrf(A[:begin, :begin].T, clean=False, overwrite_a=True)
    if weak:
        return factor, int(weak) - 1
    A[:begin, :begin] = leading.T
    weak = _factorize_rows(A, first, begin)
    return factor, None if weak < 0 else weak


def _first_sparse_row(first: np.ndarray) -> int:
    """Return the row from which on :func:`_factorize_rows`, which skips leading zeros, is faster than LAPACK."""
    rows = np.arange(1.0, len(first) + 1.0)
    operations = (rows - first) ** 2
    costs = operations.sum() - np.cumsum(operations) + rows**3 / (3.0 * LAPACK_GAIN)
    return int(np.argmin(costs)) + 1


@kernel
def _find_first(A, first):
    """Set ``first`` to the first column of each row of A that is not zero, at most the diagonal."""
    for i in range(len(A)):
        j = 0
        while j < i and A[i, j] == 0.0:
            j += 1
        first[i] = j


@kernel
def _factorize_rows(A, first, begin):
    """Replace the rows of A from ``begin`` on by those of its factor, after the rows before.

    Returns -1, or the row at which A is not positive definite.
    """
    for i in range(begin, len(A)):
        row = A[i]
        for j in range(first[i], i):
            row[j] = _less_product(row[j], row, A[j], max(first[i], first[j]), j) / A[j, j]
        square = _less_product(row[i], row, row, first[i], i)
        if not square > 0.0:
            return i
        row[i] = np.sqrt(square)
    return -1


@inlined
def _less_product(value, x, y, begin, end):
    """Return ``value`` less the sum of ``x[k] y[k]`` for k from ``begin`` to before ``end``."""
    # Four sums, since each addition waits for the one before it.
    s0, s1, s2, s3 = value, 0.0, 0.0, 0.0
    whole = begin + (end - begin) // 4 * 4
    for k in range(begin, whole, 4):
        s0 -= x[k] * y[k]
        s1 -= x[k + 1] * y[k + 1]
        s2 -= x[k + 2] * y[k + 2]
        s3 -= x[k + 3] * y[k + 3]
    for k in range(whole, end):
        s0 -= x[k] * y[k]
    return (s0 + s1) + (s2 + s3)


@inner_kernel
def solve_dense(factor, x):
    """Replace x (m,) by ``A^-1 x``, for the :class:`DenseFactor` of A."""
    L, first = factor
    for i in range(len(x)):
        x[i] = _less_product(x[i], L[i], x, first[i], i) / L[i, i]
    for i in range(len(x) - 1, -1, -1):
        x[i] /= L[i, i]
        for j in range(first[i], i):
            x[j] -= L[i, j] * x[i]
