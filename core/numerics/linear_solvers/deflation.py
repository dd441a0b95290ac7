"""Coarse space of the affine displacements of vertex groups, and the exact solution in the coarse space.

The coarse space has the basis W and the matrix ``E = W^T A W``. Deflation corrects the preconditioned residual z of a
residual r to ``z + W E^-1 (W^T r - (A W)^T z)``. The iteration for ``A x = b`` starts at ``W E^-1 W^T b``. This is the
method A-DEF2 of Tang, Nabben, Vuik and Erlangga ("Comparison of Two-Level Preconditioners Derived from Deflation,
Domain Decomposition and Multigrid Methods", 2009). Plain deflation gives the same iterates in exact arithmetic, but
loses orthogonality at high ratios of stiffness. [MFEM22] Sec. 3.6 starts in the affine space of the whole body (Lan et
al., "Affine Body Dynamics", 2022) without correcting residuals afterwards.

``A W`` has a block (3,12) for each row and each group near the row, 1.4 to 1.8 per row. It is computed for E anyway,
and stored: a correction then takes a third of a product with A.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ...foundation.kernels.jit import inlined, inner_kernel, parallel_kernel
from ...foundation.kernels.shared_items import ItemKernel, done, take
from ...mechanics.assembly.block_rows import BlockRows
from ...mechanics.assembly.low_rank import LowRank
from .factorized import factorized_dense

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
        self._missing = np.ones((self.count, 3, 4), dtype=bool)
        for j in range(4):
            used = np.bincount(groups, weights=self._basis[:, j] != 0.0, minlength=self.count)
            self._missing[used > 0, :, j] = False
        self._members = np.argsort(groups, kind="stable")
        self._begins = np.searchsorted(groups[self._members], np.arange(self.count + 1))
        columns, rows = np.indices(self._basis.shape)
        of_functions = (self._basis.ravel(), ((4 * groups[:, None] + rows).ravel(), columns.ravel()))
        self._restriction = sp.csr_matrix(of_functions, shape=(4 * self.count, len(groups)))
        self._coarse = np.empty((12 * self.count, 12 * self.count))

    def factorize(self, A: BlockRows, low_rank: LowRank | None = None) -> int | None:
        """Factorise the coarse matrix ``W^T S W``; return None, or the index of a group where the factorisation fails.

        The columns of W are the affine displacements of the groups. S (3f,3f) is the system matrix of the f free
        vertices, the sum of the arguments. The factorisation fails if the coarse matrix is not positive definite.

        ``A``: matrix in block rows. ``low_rank``: matrix of low rank, or None.
        """
        counts = np.empty(len(A), dtype=np.int64)
        pattern = A.starts, A.columns, A.pair_starts, A.pair_columns, self.groups, self.count
        _count_near(len(A), *pattern, counts)
        self._starts = np.concatenate([[0], np.cumsum(counts)])
        self._near = np.empty(self._starts[-1], dtype=np.int64)
        self._AW = np.empty((len(self._near), 3, 12))
        _fill_near(len(A), *pattern, self._starts, self._near, A.values, A.pair_values, self._basis, self._AW)
        E = self._coarse  # overwrites the factor of the last matrix
        arrays = self._starts, self._near, self._AW
        _coarse_matrix(self.count, self._begins, self._members, self._basis, *arrays, E)
        self._WY = np.zeros((len(E), 0))
        if low_rank is not None:
            Y, C = low_rank
            of_functions = (self._restriction @ Y.reshape(len(Y), -1)).reshape(self.count, 4, 3, -1)
            self._WY = of_functions.swapaxes(1, 2).reshape(len(E), -1)
            E += self._WY @ C @ self._WY.T
        # A group that lies in a plane has fewer affine functions: its unused rows get ones on the diagonal.
        E[np.diag_indices(len(E))] += self._missing.ravel()
        self._factor, weak = factorized_dense(E)
        return None if weak is None else weak // 12

    def arrays(self) -> tuple[Any, ...]:
        """Return the arrays of W, A W and the :class:`DenseFactor` of the coarse matrix, for :func:`restrict_rows`,
        :func:`prolong_rows` and :func:`solve_dense`, and the product ``W^T Y`` of the low-rank term.
        """
        return self.groups, self._basis, self._starts, self._near, self._AW, self._factor, self._WY


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


@parallel_kernel
def _count_near(begin, end, starts, columns, pair_starts, pair_columns, groups, count, out):
    """Count the groups of the columns of each row."""
    seen = np.full(count, -1, dtype=np.int64)
    for v in range(begin, end):
        total = _mark(starts[v], starts[v + 1], columns, groups, seen, v)
        out[v] = total + _mark(pair_starts[v], pair_starts[v + 1], pair_columns, groups, seen, v)


@inlined
def _mark(first, last, columns, groups, seen, v):
    total = 0
    for b in range(first, last):
        g = groups[columns[b]]
        if seen[g] != v:
            seen[g] = v
            total += 1
    return total


@parallel_kernel
def _fill_near(
    begin,
    end,
    starts,
    columns,
    pair_starts,
    pair_columns,
    groups,
    count,
    near_starts,
    near,
    values,
    pair_values,
    basis,
    AW,
):
    """Compute the blocks of A W. Row v has the blocks ``near_starts[v]`` to ``near_starts[v + 1] - 1``.

    Function j of a group along axis i has the column ``4 i + j`` of the group's blocks.
    """
    slot = np.full(count, -1, dtype=np.int64)
    most = 0
    for v in range(begin, end):
        most = max(most, starts[v + 1] - starts[v], pair_starts[v + 1] - pair_starts[v])
    chosen, weights = np.empty(most, dtype=np.int64), np.empty((most, 4))
    for v in range(begin, end):
        first = near_starts[v]
        last = _find_groups(starts[v], starts[v + 1], columns, groups, slot, first, first, near)
        last = _find_groups(pair_starts[v], pair_starts[v + 1], pair_columns, groups, slot, first, last, near)
        for s in range(first, last):
            group = groups, near[s], basis, chosen, weights
            AW[s] = 0.0
            _add_row(starts[v], starts[v + 1], columns, values, group, AW[s])
            _add_row(pair_starts[v], pair_starts[v + 1], pair_columns, pair_values, group, AW[s])


@inlined
def _find_groups(begin, end, columns, groups, slot, first, last, near):
    """Append the groups of a row's columns to ``near[first:last]``, where they are not there yet. Return the end.

    ``slot[g]``: index of group g in ``near``, if it is in this range.
    """
    for b in range(begin, end):
        h = groups[columns[b]]
        s = slot[h]
        if not (first <= s < last and near[s] == h):
            slot[h], near[last] = last, h
            last += 1
    return last


@inlined
def _add_row(begin, end, columns, values, group, out):
    """Add the products of a row's blocks with the affine functions of one group to ``out`` (3,12)."""
    groups, number, basis, chosen, weights = group
    count = 0
    for b in range(begin, end):
        u = columns[b]
        if groups[u] == number:
            chosen[count] = b
            for j in range(4):
                weights[count, j] = basis[u, j]
            count += 1
    for r in range(3):
        for c in range(3):
            # Sums in registers: with sums in memory the kernel takes 1.6 times as long.
            s0, s1, s2, s3 = out[r, 4 * c], out[r, 4 * c + 1], out[r, 4 * c + 2], out[r, 4 * c + 3]
            for k in range(count):
                value = values[chosen[k], r, c]
                s0 += value * weights[k, 0]
                s1 += value * weights[k, 1]
                s2 += value * weights[k, 2]
                s3 += value * weights[k, 3]
            out[r, 4 * c], out[r, 4 * c + 1], out[r, 4 * c + 2], out[r, 4 * c + 3] = s0, s1, s2, s3


@ItemKernel
def _coarse_matrix(items, begins, members, basis, starts, near, AW, E):
    """Compute the coarse matrix ``W^T A W``, by the rows of each group.

    Function j of group g along axis i has the index ``12 g + 4 i + j`` in E.
    """
    g = take(items)
    while g >= 0:
        E[12 * g : 12 * g + 12] = 0.0
        for m in range(begins[g], begins[g + 1]):
            v = members[m]
            for s in range(starts[v], starts[v + 1]):
                column = 12 * near[s]
                for r in range(3):
                    for j in range(4):
                        for k in range(12):
                            E[12 * g + 4 * r + j, column + k] += basis[v, j] * AW[s, r, k]
        done(items)
        g = take(items)


@inner_kernel
def restrict_rows(begin, end, groups, basis, starts, near, AW, r, z, c):
    """Add the rows' share of ``W^T r - (A W)^T z`` to c (12 g,)."""
    for v in range(begin, end):
        at = 12 * groups[v]
        for i in range(3):
            for j in range(4):
                c[at + 4 * i + j] += basis[v, j] * r[v, i]
        z0, z1, z2 = z[v, 0], z[v, 1], z[v, 2]
        for s in range(starts[v], starts[v + 1]):
            at = 12 * near[s]
            for k in range(12):
                c[at + k] -= AW[s, 0, k] * z0 + AW[s, 1, k] * z1 + AW[s, 2, k] * z2


@inner_kernel
def prolong_rows(begin, end, groups, basis, c, z):
    """Add the rows' entries of ``W c`` to z (f,3)."""
    for v in range(begin, end):
        at = 12 * groups[v]
        for i in range(3):
            for j in range(4):
                z[v, i] += basis[v, j] * c[at + 4 * i + j]
