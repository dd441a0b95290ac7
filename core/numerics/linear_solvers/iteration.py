"""Iteration of deflated, preconditioned conjugate gradients in compiled code, with all threads.

Each iteration has five phases over the rows, with sums over all rows between them. After the last phase follows the
exact part of the preconditioner: a small one as a dense matrix, a larger one by the direct solver, in a pause.
"""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from typing import NamedTuple

import numpy as np

from ...foundation.kernels.jit import inlined, inner_kernel
from ...foundation.kernels.phases import PARTS, PhaseKernel, end, is_last, open_next, pause, take_part
from ...mechanics.assembly.block_rows import BlockRows, multiply_rows
from ...mechanics.assembly.low_rank import LowRank
from .blas import one_blas_thread
from .deflation import AffineDeflation, prolong_rows, restrict_rows
from .factorized import solve_dense
from .preconditioner import Preconditioner

_RESTRICT, _PROLONG, _DIRECTION, _PRODUCT, _ADVANCE = range(5)
"""Phases: ``c = E^-1 (W^T r - (A W)^T z)``; ``z += W c``; ``p = z + beta p``; ``A p``; the next x, r and ``D^-1 r``."""

_STARTING, _RUNNING, _CONVERGED, _CAPPED, _INDEFINITE = range(5)
"""Values of the status. In the status ``_STARTING``, x = 0 and z = 0, and the iteration finds the solution in the
coarse space, with the step length 1.
"""

_STATUS, _WORK, _ITERATIONS, _BEFORE, _RATIO, _LENGTH, _LOAD, _LARGEST = range(8)
_TOLERANCE, _MOVEMENT, _FARTHEST, _NEGLIGIBLE = range(8, 12)
"""Indices in ``shared``: status; ``r . z``; number of iterations; ``r . z`` of the iteration before; beta; the step
length; ``b . x`` and ``max |x|`` of the last x; and the limits, see :class:`Limits`.
"""

_SHARED = 12
"""Number of entries of ``shared``."""


class Limits(NamedTuple):
    """Limits at which the iteration ends.

    ``tolerance``: of the energy norm of the preconditioned residual z, relative to that of x. ``movement``: of
    ``max |z|`` relative to ``max |x|``. ``farthest``, m: of ``max |z|``. ``negligible``, m: displacement that takes the
    place of ``max |x|`` where it is larger; the limit of the energy norm grows alike. ``iterations``: largest number of
    iterations.
    """

    tolerance: float
    movement: float
    farthest: float
    negligible: float
    iterations: int


class Solution(NamedTuple):
    """Approximate solution x (f,3) of ``A x = b`` by k iterations.

    ``residual_work``: ``x . (A x - b)``. ``z`` (f,3), ``work``: preconditioned and deflated residual, and its product
    with the residual b - A x. ``lengths`` (k,): step lengths. ``ratios`` (k-1,): ratios of successive ``work``.
    ``is_indefinite``: True if A is indefinite; x then minimises over the directions so far, or is the first one.
    """

    x: np.ndarray
    residual_work: float
    z: np.ndarray
    work: float
    lengths: np.ndarray
    ratios: np.ndarray
    is_indefinite: bool


def iterate(
    A: BlockRows,
    preconditioner: Preconditioner,
    deflation: AffineDeflation,
    low_rank: LowRank | None,
    b: np.ndarray,
    limits: Limits,
) -> Solution:
    """Solve ``(A + low_rank) x = b`` for b (f,3), after ``preconditioner`` and ``deflation`` have been factorised."""
    b = np.ascontiguousarray(b)
    x, z, p, Ap = np.zeros((4, *b.shape))
    r = b.copy()
    rank, size = 0 if low_rank is None else len(low_rank.core), 12 * deflation.count
    Y, C = (np.zeros((*b.shape, 0)), np.zeros((0, 0))) if low_rank is None else map(np.ascontiguousarray, low_rank)
    history, shared = np.zeros((2, limits.iterations)), np.zeros(_SHARED)
    sizes = (PARTS, size), (PARTS, 2), (size,), (PARTS, rank), (3 * len(preconditioner.dense[0]),)
    memory = *map(np.zeros, sizes), history, shared
    shared[_TOLERANCE:] = limits[:4]
    system = A.arrays(), preconditioner.inverses, preconditioner.dense, deflation.arrays(), Y, C, b
    with one_blas_thread() if preconditioner.has_sparse_part else nullcontext():
        exact = partial(preconditioner.solve_exact_part, r, z)
        _iterate(len(b), exact, system, (x, r, z, p, Ap), memory, preconditioner.has_sparse_part)
    count, is_indefinite = int(shared[_ITERATIONS]), bool(shared[_STATUS] == _INDEFINITE)
    if is_indefinite and not x.any():
        x = p
    residual_work = -float(np.einsum("vi,vi->", x, r))
    return Solution(x, residual_work, z, float(shared[_WORK]), history[0, :count], history[1, 1:count], is_indefinite)


@PhaseKernel
def _iterate(is_caller, counters, system, vectors, memory, has_sparse_part):
    """Iterate to the limits. If ``has_sparse_part``, the calling thread computes the exact part of z in a pause.

    Parameters
    ----------
    system : matrix (:meth:`BlockRows.arrays`), inverses (f,3,3) of its diagonal blocks, ``Preconditioner.dense``,
        coarse space (:meth:`AffineDeflation.arrays`), Y (f,3,k) and C (k,k) of the low-rank term, and b (f,3)
    vectors : x, r, z, p and A p, each (f,3)
    memory : parts (PARTS,12 g) of the restriction, sums (PARTS,2), coarse solution c (12 g,), columns (PARTS,k) of
        products with Y, entries of the dense exact part, history (2,most iterations) of step lengths and ratios, and
        ``shared``, see the module
    """
    shared = memory[-1]
    while True:
        item = take_part(is_caller, counters)
        if item < 0:
            return
        phase = item // PARTS % 5
        _process_part(phase, item % PARTS, system, vectors, memory)
        if is_last(counters):
            _complete(phase, system, vectors, memory)
            if shared[_STATUS] > _RUNNING:
                end(counters)
            elif phase == _ADVANCE and has_sparse_part:
                pause(counters)
            else:
                open_next(counters)


@inner_kernel
def _process_part(phase, part, system, vectors, memory):
    """Process the rows of a part in a phase."""
    matrix, inverses, _dense, coarse, Y, _C, b = system
    x, r, z, p, Ap = vectors
    parts, sums, c, columns, _entries, _history, shared = memory
    groups, basis, near_starts, near, AW, _factor, _WY = coarse
    first, last = part * len(x) // PARTS, (part + 1) * len(x) // PARTS
    if phase == _RESTRICT:
        parts[part] = 0.0
        restrict_rows(first, last, groups, basis, near_starts, near, AW, r, z, parts[part])
        _columns_times(first, last, Y, z, columns[part])
    elif phase == _PROLONG:
        prolong_rows(first, last, groups, basis, c, z)
        _sum_rows(first, last, r, z, sums[part])
    elif phase == _DIRECTION:
        _next_direction(shared[_RATIO], z[first:last].reshape(-1), p[first:last].reshape(-1))
        _columns_times(first, last, Y, p, columns[part])
    elif phase == _PRODUCT:
        multiply_rows(first, last, matrix, p, Ap)
        for v in range(first, last):
            for i in range(3):
                for k in range(columns.shape[1]):
                    Ap[v, i] += Y[v, i, k] * columns[0, k]
        _sum_rows(first, last, p, Ap, sums[part])
    else:
        _advance(first, last, shared[_LENGTH], inverses, p, Ap, x, r, z)
        _sum_rows(first, last, b, x, sums[part])


@inner_kernel
def _complete(phase, system, vectors, memory):
    """Sum the results of all parts of a phase."""
    _matrix, _inverses, dense, coarse, _Y, C, _b = system
    parts, sums, c, columns, entries, history, shared = memory
    if phase == _RESTRICT:
        _solve_in_coarse_space(parts, columns, C, coarse[6], coarse[5], c)
    elif phase == _PROLONG:
        _check_convergence(sums, shared, history.shape[1])
    elif phase == _DIRECTION:
        _times_core(columns, C)
    elif phase == _PRODUCT:
        _find_length(sums, shared, history)
    else:
        shared[_LOAD], shared[_LARGEST] = _total(sums)
        shared[_STATUS] = _RUNNING
        _solve_exact_part(dense, entries, vectors[1], vectors[2])


@inner_kernel
def _solve_exact_part(dense, entries, r, z):
    """Set the rows of z of a dense exact part, for a residual r."""
    vertices, factor = dense
    for k in range(len(vertices)):
        for i in range(3):
            entries[3 * k + i] = r[vertices[k], i]
    solve_dense(factor, entries)
    for k in range(len(vertices)):
        for i in range(3):
            z[vertices[k], i] = entries[3 * k + i]


@inlined
def _columns_times(first, last, Y, x, out):
    """Set out (k,) to the rows' share of ``Y^T x``."""
    out[:] = 0.0
    for v in range(first, last):
        for i in range(3):
            for k in range(len(out)):
                out[k] += Y[v, i, k] * x[v, i]


@inlined
def _sum_rows(first, last, x, y, out):
    """Set out (2,) to the rows' share of ``x . y`` and of ``max |y|``."""
    t0 = t1 = t2 = m0 = m1 = m2 = 0.0  # a sum and a maximum per axis, since each waits for the one before it
    for v in range(first, last):
        t0 += x[v, 0] * y[v, 0]
        t1 += x[v, 1] * y[v, 1]
        t2 += x[v, 2] * y[v, 2]
        m0, m1, m2 = max(m0, abs(y[v, 0])), max(m1, abs(y[v, 1])), max(m2, abs(y[v, 2]))
    out[0], out[1] = t0 + t1 + t2, max(m0, m1, m2)


@inlined
def _next_direction(ratio, z, p):
    """Set p to ``z + ratio p``, for arrays of one axis."""
    for i in range(len(p)):
        p[i] = z[i] + ratio * p[i]


@inlined
def _total(sums):
    total, largest = 0.0, 0.0
    for part in range(PARTS):
        total += sums[part, 0]
        largest = max(largest, sums[part, 1])
    return total, largest


@inlined
def _advance(first, last, length, D, p, Ap, x, r, z):
    """Add ``length p`` to x, subtract ``length A p`` from r, and set z to ``D r`` for the blocks D (f,3,3)."""
    for v in range(first, last):
        r0, r1, r2 = r[v, 0] - length * Ap[v, 0], r[v, 1] - length * Ap[v, 1], r[v, 2] - length * Ap[v, 2]
        r[v, 0], r[v, 1], r[v, 2] = r0, r1, r2
        for i in range(3):
            x[v, i] += length * p[v, i]
            z[v, i] = D[v, i, 0] * r0 + D[v, i, 1] * r1 + D[v, i, 2] * r2


@inner_kernel
def _times_core(columns, C):
    """Replace the first row of ``columns`` (PARTS,k) by C times the sum of all rows."""
    rank = len(C)
    for part in range(1, PARTS):
        for k in range(rank):
            columns[0, k] += columns[part, k]
    for k in range(rank):
        columns[1, k] = 0.0
        for j in range(rank):
            columns[1, k] += C[k, j] * columns[0, j]
    for k in range(rank):
        columns[0, k] = columns[1, k]


@inner_kernel
def _solve_in_coarse_space(parts, columns, C, WY, factor, c):
    """Set c to the coarse solution for the sums of ``parts``, less ``W^T Y C`` times the sum of ``columns``."""
    c[:] = 0.0
    for part in range(PARTS):
        for k in range(len(c)):
            c[k] += parts[part, k]
    _times_core(columns, C)
    for i in range(len(c)):
        for k in range(len(C)):
            c[i] -= WY[i, k] * columns[0, k]
    solve_dense(factor, c)


@inner_kernel
def _check_convergence(sums, shared, most):
    """Set beta, or end the iteration. ``sums``: of ``r . z`` and ``max |z|``. ``most``: limit of iterations."""
    work, largest = _total(sums)
    shared[_WORK] = work
    if shared[_STATUS] == _STARTING:
        return
    size = max(shared[_LARGEST], shared[_NEGLIGIBLE])
    is_small = largest <= min(shared[_MOVEMENT] * size, shared[_FARTHEST])
    scale = size / shared[_LARGEST] if shared[_LARGEST] > 0.0 else 1.0
    if work <= (shared[_TOLERANCE] * scale) ** 2 * max(shared[_LOAD], 0.0) and is_small:
        shared[_STATUS] = _CONVERGED
    elif shared[_ITERATIONS] >= most:
        shared[_STATUS] = _CAPPED
    else:
        shared[_RATIO] = work / shared[_BEFORE] if shared[_ITERATIONS] > 0 else 0.0


@inner_kernel
def _find_length(sums, shared, history):
    """Set the step length for the products ``p . A p`` in ``sums``, or end the iteration if A is indefinite."""
    if shared[_STATUS] == _STARTING:
        shared[_LENGTH] = 1.0
        return
    curvature = _total(sums)[0]
    if curvature <= 0.0:
        shared[_STATUS] = _INDEFINITE
        return
    at = int(shared[_ITERATIONS])
    shared[_LENGTH] = history[0, at] = shared[_WORK] / curvature
    history[1, at] = shared[_RATIO]
    shared[_ITERATIONS] += 1
    shared[_BEFORE] = shared[_WORK]
