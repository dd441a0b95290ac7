"""CHOLMOD through cvxopt: the fastest direct solver whose licence allows shipping it.

The supernodal factorisation orders the vertices by minimum degree or by nested dissection (METIS, where pymetis is
installed), whichever gives less fill. The symbolic step runs once per sparsity pattern.

cvxopt solves several right-hand sides one after the other. This module instead solves several right-hand sides with the
factor in CHOLMOD's memory. Threads share the right-hand sides, and the forward solve skips supernodes whose rows are
zero.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ...foundation.kernels.jit import inner_kernel, summing_kernel
from ...foundation.kernels.shared_items import ItemKernel, done, take
from ...foundation.kernels.simd_math import LANES
from ...mechanics.assembly.sparsity import Pattern
from .blas import load_cvxopt
from .ordering import expand, factor_entries, lower_of_ones, sparsest
from .protocol import not_definite

FORWARD, BACKWARD, PERMUTE, PERMUTE_BACK = 4, 5, 7, 8  # CHOLMOD's codes for stages of a solve
FACTOR = b"CHOLMOD FACTOR D L"
"""Name of cvxopt's Python capsule for a factor with real (double) values and long indices."""

ONE_BY_ONE = "CHOLMOD without access to its factor, slow with many dynamic nodes"
"""Label of the solver if CHOLMOD's factor has an unknown memory layout. Right-hand sides are then solved one by one."""

COLUMNS, FEW = 48, 16
"""``COLUMNS``: largest number of right-hand sides that a thread solves at once. ``FEW``: least number of right-hand
sides that are divided between two threads. Each thread reads the whole factor, so dividing fewer right-hand sides would
not pay off.
"""

_LONG, _REAL, _DOUBLE = 2, 1, 0


class CholmodSolver:
    """Direct solver by CHOLMOD's supernodal Cholesky factorisation.

    The factorisation holds Python's interpreter lock, so run the solver in a separate process.
    """

    name = "cholmod"
    label = "CHOLMOD"
    package = "cvxopt"

    def __init__(self, pattern: Pattern, like: CholmodSolver | None = None) -> None:
        cvxopt = load_cvxopt()
        self._cholmod, self._amd = cvxopt.cholmod, cvxopt.amd
        self._matrix, self._sparse = cvxopt.matrix, cvxopt.sparse
        self._pattern = pattern
        self._A = lower_of_ones(cvxopt, pattern.column_starts, pattern.row_indices)
        if like is not None:
            self.ordering, self._order = like.ordering, like._order
        else:
            self._order, self.factor_entries, self.ordering = sparsest(pattern)
        self._factor = self._symbolic()

    def _symbolic(self) -> Any:
        """Return cvxopt's symbolic factor of the matrix pattern. CHOLMOD tries no other order beside the given one."""
        with self._options(nmethods=1):
            return self._cholmod.symbolic(self._A, p=self._matrix(expand(self._order, self._pattern.width)))

    @contextmanager
    def _options(self, **options: object) -> Iterator[None]:
        before = dict(self._cholmod.options)
        self._cholmod.options.update(options)
        try:
            yield
        finally:
            self._cholmod.options.clear()
            self._cholmod.options.update(before)

    @cached_property
    def factor_entries(self) -> int:
        """Number of scalar non-zeros of the Cholesky factor."""
        return factor_entries(self._pattern, self._order)

    def factorize(self, values: np.ndarray) -> None:
        """Factorise the matrix with the lower triangle ``values`` (nnz,).

        Raises FactorizationError if the matrix is not positive definite.
        """
        self._A.V = self._matrix(values)
        try:
            self._cholmod.numeric(self._A, self._factor)
        except ArithmeticError as error:
            raise not_definite() from error

    def weak_vertex(self, values: np.ndarray) -> int:
        """Return the index of the vertex at which the factorisation breaks down.

        ``values`` (nnz,): lower triangle of the matrix. CHOLMOD reports a column in a postorder that it does not
        return, so the matrix is factorised again without postorder.
        """
        free, width = self._pattern.free, self._pattern.width
        self._A.V = self._matrix(values)
        with self._options(postorder=False, supernodal=2):
            try:
                order = self._amd.order(self._A)
                self._cholmod.numeric(self._A, self._cholmod.symbolic(self._A, p=order))
            except ArithmeticError as error:
                return int(free[int(order[int(error.args[0])]) // width])
        return int(free[0])

    def solve(self, right_hand_side: np.ndarray) -> np.ndarray:
        """Return the solution by the last factorisation. ``right_hand_side``: (size,) or (size,k)."""
        if right_hand_side.ndim == 2:
            x = np.array(right_hand_side, dtype=np.float64, order="C")
            self.solve_in(x, np.arange(len(x)))
            return x
        b = self._matrix(np.ascontiguousarray(right_hand_side, dtype=np.float64))
        self._cholmod.solve(self._factor, b)
        return np.array(b).reshape(right_hand_side.shape)

    def solve_in(self, x: np.ndarray, rows: np.ndarray) -> None:
        """Solve in place for the right-hand sides ``x[rows]``, by the last factorisation.

        ``x`` (N,k): k right-hand sides in columns. ``rows`` (size,): row of x per row of the matrix. Other rows of x
        stay unchanged.
        """
        if found := supernodes(self._factor, self._pattern.size):
            found.solve(x, rows)
            return
        self.label = ONE_BY_ONE
        b = self._matrix(x[rows])
        self._cholmod.solve(self._factor, b)
        x[rows] = np.array(b)

    def forward(self, right_hand_side: np.ndarray) -> np.ndarray:
        """Return ``R^-1 b``, the forward substitution with the factor of ``A = R R^T``.

        ``right_hand_side`` b: (size,) or (size,k).
        """
        if right_hand_side.ndim == 2 and (found := supernodes(self._factor, self._pattern.size)):
            x = np.asarray(right_hand_side, dtype=np.float64)[found.order]
            found.solve(x, np.arange(len(x)), is_whole=False)
            return x
        b = self._matrix(np.asarray(right_hand_side, dtype=np.float64)[self._permutation])
        if right_hand_side.ndim == 1:
            self._cholmod.solve(self._factor, b, sys=FORWARD)
        else:
            b = self._matrix(self._cholmod.spsolve(self._factor, self._sparse(b), sys=FORWARD))
        return np.array(b).reshape(right_hand_side.shape)

    @cached_property
    def _permutation(self) -> np.ndarray:
        """Fill-reducing permutation, (size,), from factor rows to matrix rows."""
        numbers = self._matrix(np.arange(self._pattern.size, dtype=np.float64))
        self._cholmod.solve(self._factor, numbers, sys=PERMUTE)
        return np.array(numbers).ravel().astype(np.intp)

    def backward(self, right_hand_side: np.ndarray) -> np.ndarray:
        """Return ``R^-T b``, the backward substitution with the factor of ``A = R R^T``.

        ``right_hand_side`` b: (size,).
        """
        b = self._matrix(np.ascontiguousarray(right_hand_side, dtype=np.float64))
        for part in (BACKWARD, PERMUTE_BACK):
            self._cholmod.solve(self._factor, b, sys=part)
        return np.array(b).reshape(right_hand_side.shape)


class _Factor(ctypes.Structure):
    """Memory layout of CHOLMOD's C struct ``cholmod_factor``, from its User Guide."""

    _fields_ = (
        *((name, ctypes.c_size_t) for name in ("n", "minor")),
        *((name, ctypes.c_void_p) for name in ("Perm", "ColCount", "IPerm")),
        ("nzmax", ctypes.c_size_t),
        *((name, ctypes.c_void_p) for name in ("p", "i", "x", "z", "nz", "next", "prev")),
        *((name, ctypes.c_size_t) for name in ("nsuper", "ssize", "xsize", "maxcsize", "maxesize")),
        *((name, ctypes.c_void_p) for name in ("super", "pi", "px", "s")),
        *((name, ctypes.c_int) for name in ("ordering", "is_ll", "is_super", "is_monotonic")),
        *((name, ctypes.c_int) for name in ("itype", "xtype", "dtype", "useGPU")),
    )


class Supernodes(NamedTuple):
    """Cholesky factor in CHOLMOD's memory, as s supernodes.

    A supernode is a block of adjacent columns with equal sparsity.

    Attributes
    ----------
    columns : (s+1,) first column of each supernode
    row_starts : (s+1,) offset of each supernode in ``rows``
    starts : (s+1,) offset of each supernode in ``values``
    rows : row indices of each supernode in turn, beginning with the indices of its columns
    values : entries of the supernodes, column by column
    order : (n,) index of the matrix row that is row i of the factor
    """

    columns: np.ndarray
    row_starts: np.ndarray
    starts: np.ndarray
    rows: np.ndarray
    values: np.ndarray
    order: np.ndarray

    def solve(self, x: np.ndarray, rows: np.ndarray, is_whole: bool = True) -> None:
        """Solve in place for the right-hand sides ``x[rows]``.

        ``x`` (N,k): k right-hand sides in columns. ``is_whole``: True for forward and backward substitution, False for
        the forward substitution alone. ``rows`` (n,): row of x per row of the matrix if ``is_whole`` is True, else per
        row of the factor.
        """
        at = rows[self.order] if is_whole else rows
        own = (self.columns, self.row_starts, self.starts, at[self.rows], self.values)
        items = max(-(-x.shape[1] // COLUMNS), 1 + (x.shape[1] >= FEW))
        ends = np.minimum(-(-x.shape[1] // (items * LANES)) * LANES * np.arange(items + 1), x.shape[1])
        _solve(items, *own, x, ends, is_whole)


def supernodes(factor: Any, size: int) -> Supernodes | None:
    """Return the supernodes of cvxopt's ``factor``, or None if the memory layout is unknown.

    ``size``: number of rows. The known layout is that of CHOLMOD 3 to 5.
    """
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    held = _Factor.from_address(pointer(factor, FACTOR))
    kind = (held.n, held.minor, held.is_ll, held.is_super, held.itype, held.xtype, held.dtype)
    if kind != (size, size, 1, 1, _LONG, _REAL, _DOUBLE) or not 0 < held.nsuper <= size:
        return None

    def array(address: int, kind: type, count: int) -> np.ndarray:
        return np.ctypeslib.as_array(ctypes.cast(address, ctypes.POINTER(kind)), (count,))

    columns, row_starts, starts = (
        array(each, ctypes.c_int64, held.nsuper + 1) for each in (held.super, held.pi, held.px)
    )
    if (columns[-1], row_starts[-1], starts[-1]) != (size, held.ssize, held.xsize):
        return None
    rows, order = (array(*each) for each in ((held.s, ctypes.c_int64, held.ssize), (held.Perm, ctypes.c_int64, size)))
    values = array(held.x, ctypes.c_double, held.xsize)
    return Supernodes(columns, row_starts, starts, rows, values, order)


@ItemKernel
def _solve(items, columns, row_starts, starts, rows, values, x, ends, is_whole):
    """Solve in place for columns of x, in parallel; work item i solves the columns ``ends[i]`` to ``ends[i + 1]``.

    ``rows``: row of x for each entry of ``Supernodes.rows``.
    """
    item = take(items)
    while item >= 0:
        first, last = ends[item], ends[item + 1]
        for s in range(len(columns) - 1):
            own = rows[row_starts[s] : row_starts[s + 1]]
            if _has_any(own[: columns[s + 1] - columns[s]], x, first, last):
                _forward(values[starts[s] : starts[s + 1]].reshape(-1, len(own)), own, x, first, last)
        for s in range(len(columns) - 2 if is_whole else -1, -1, -1):
            own = rows[row_starts[s] : row_starts[s + 1]]
            _backward(values[starts[s] : starts[s + 1]].reshape(-1, len(own)), own, x, first, last)
        done(items)
        item = take(items)


@inner_kernel
def _has_any(rows, x, first, last):
    for r in rows:
        for j in range(first, last):
            if x[r, j] != 0.0:
                return True
    return False


# Four rows and four columns of the factor are processed together, so that each value read enters four products.
# Entries are copied to variables before the loops over right-hand sides, since only plain loops are vectorized.


@summing_kernel
def _forward(L, rows, x, first, last):
    """Do one supernode's part of the forward substitution in place, in the columns ``first`` to ``last`` of x.

    ``L`` (c,r): the supernode's c columns of r entries. ``rows`` (r,): row of x per entry.
    """
    width, height = L.shape
    for c in range(0, width, 4):
        end = min(c + 4, width)
        for k in range(c, end):
            _divide(L[k, k], x, rows[k], first, last)
            for r in range(k + 1, end):
                _subtract(L[k, r], x, rows[k], rows[r], first, last)
        whole = height - (height - c) % 4 if end == c + 4 else end
        for r in range(end, whole, 4):
            p, q, u, v = (
                x[rows[c], first:last],
                x[rows[c + 1], first:last],
                x[rows[c + 2], first:last],
                x[rows[c + 3], first:last],
            )
            f, g, h, i = (
                x[rows[r], first:last],
                x[rows[r + 1], first:last],
                x[rows[r + 2], first:last],
                x[rows[r + 3], first:last],
            )
            fx, fy, fz, fw = L[c, r], L[c + 1, r], L[c + 2, r], L[c + 3, r]
            gx, gy, gz, gw = L[c, r + 1], L[c + 1, r + 1], L[c + 2, r + 1], L[c + 3, r + 1]
            hx, hy, hz, hw = L[c, r + 2], L[c + 1, r + 2], L[c + 2, r + 2], L[c + 3, r + 2]
            ix, iy, iz, iw = L[c, r + 3], L[c + 1, r + 3], L[c + 2, r + 3], L[c + 3, r + 3]
            for j in range(last - first):
                xj, yj, zj, wj = p[j], q[j], u[j], v[j]
                f[j] -= fx * xj + fy * yj + fz * zj + fw * wj
                g[j] -= gx * xj + gy * yj + gz * zj + gw * wj
                h[j] -= hx * xj + hy * yj + hz * zj + hw * wj
                i[j] -= ix * xj + iy * yj + iz * zj + iw * wj
        for r in range(whole, height):
            for k in range(c, end):
                _subtract(L[k, r], x, rows[k], rows[r], first, last)


@summing_kernel
def _backward(L, rows, x, first, last):
    """Do one supernode's part of the backward substitution in place, in the columns ``first`` to ``last`` of x.

    ``L`` (c,r): the supernode's c columns of r entries. ``rows`` (r,): row of x per entry.
    """
    width, height = L.shape
    for c in range((width - 1) // 4 * 4, -1, -4):
        end = min(c + 4, width)
        whole = height - (height - c) % 4 if end == c + 4 else end
        for r in range(end, whole, 4):
            p, q, u, v = (
                x[rows[c], first:last],
                x[rows[c + 1], first:last],
                x[rows[c + 2], first:last],
                x[rows[c + 3], first:last],
            )
            f, g, h, i = (
                x[rows[r], first:last],
                x[rows[r + 1], first:last],
                x[rows[r + 2], first:last],
                x[rows[r + 3], first:last],
            )
            xf, xg, xh, xi = L[c, r], L[c, r + 1], L[c, r + 2], L[c, r + 3]
            yf, yg, yh, yi = L[c + 1, r], L[c + 1, r + 1], L[c + 1, r + 2], L[c + 1, r + 3]
            zf, zg, zh, zi = L[c + 2, r], L[c + 2, r + 1], L[c + 2, r + 2], L[c + 2, r + 3]
            wf, wg, wh, wi = L[c + 3, r], L[c + 3, r + 1], L[c + 3, r + 2], L[c + 3, r + 3]
            for j in range(last - first):
                fj, gj, hj, ij = f[j], g[j], h[j], i[j]
                p[j] -= xf * fj + xg * gj + xh * hj + xi * ij
                q[j] -= yf * fj + yg * gj + yh * hj + yi * ij
                u[j] -= zf * fj + zg * gj + zh * hj + zi * ij
                v[j] -= wf * fj + wg * gj + wh * hj + wi * ij
        for k in range(end - 1, c - 1, -1):
            for r in range(whole, height):
                _subtract(L[k, r], x, rows[r], rows[k], first, last)
            for r in range(k + 1, end):
                _subtract(L[k, r], x, rows[r], rows[k], first, last)
            _divide(L[k, k], x, rows[k], first, last)


@summing_kernel
def _subtract(factor, x, row, other, first, last):
    """Subtract ``factor`` times row ``row`` of x from row ``other`` of x, in the columns ``first`` to ``last``."""
    p, q = x[row, first:last], x[other, first:last]
    for j in range(last - first):
        q[j] -= factor * p[j]


@summing_kernel
def _divide(by, x, row, first, last):
    p, factor = x[row, first:last], 1.0 / by
    for j in range(last - first):
        p[j] *= factor
