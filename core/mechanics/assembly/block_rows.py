"""Symmetric system matrix stored by block rows, with both triangles, for matrix-vector products.

Each 3 x 3 block is the sum of blocks of element matrices in a fixed order. Results are therefore bitwise reproducible
on any number of threads.
"""

from __future__ import annotations

import numpy as np

from ...foundation.kernels.jit import inlined, inner_kernel, parallel_kernel
from .elements import ElementNodes
from .pairs import Pairs
from .sparsity import NONE, gathered, sum_blocks


class BlockRows:
    """Symmetric sparse matrix of 3 x 3 blocks over the f free vertices, assembled from element matrices and pairs.

    Attributes
    ----------
    starts (f+1,), columns (b,) : int64
        Block row v has the blocks ``starts[v]`` to ``starts[v + 1] - 1`` of the elements, with ascending columns.
    values : (b,3,3), the blocks; :meth:`fill` recomputes them
    diagonal : (f,) index of the diagonal block of each row
    pairs : Pairs or None
        Blocks between vertices coupled by contact, as given to :meth:`fill`
    pair_starts (f+1,), pair_columns (p,) int64, pair_values (p,3,3) : blocks of ``pairs`` by rows, with both triangles
    """

    def __init__(self, nodes: ElementNodes, number: np.ndarray) -> None:
        """Build the sparsity pattern of the assembled matrix.

        ``nodes``: vertices of the elements. ``number`` (n,): block row of each vertex, -1 if the vertex is pinned.
        """
        rows, columns, slots = nodes.pairs(number)
        off = rows != columns
        transposed = np.concatenate([np.zeros(len(rows), dtype=bool), np.ones(int(off.sum()), dtype=bool)])
        slots = np.concatenate([slots, slots[off]])
        rows, columns = np.concatenate([rows, columns[off]]), np.concatenate([columns, rows[off]])
        count = int(number.max(initial=-1)) + 1
        self.starts, self.columns, self._gather = gathered(rows, columns, slots, transposed, count)
        self.diagonal = np.flatnonzero(np.repeat(np.arange(count), np.diff(self.starts)) == self.columns)
        self.values = np.zeros((len(self.columns), 3, 3))
        self._set_pairs(None)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def fill(self, element_blocks: np.ndarray, pairs: Pairs | None = None) -> None:
        """Assemble the values from the blocks (b,3,3) of all element matrices, and from the blocks of ``pairs``."""
        _fill_blocks(len(self.values), *self._gather, element_blocks, self.values)
        if pairs is not self.pairs:
            self._set_pairs(pairs)

    def _set_pairs(self, pairs: Pairs | None) -> None:
        self.pairs, count = pairs, len(self)
        if pairs is None:
            self.pair_starts, self.pair_columns = np.zeros(count + 1, dtype=np.int64), NONE
            self.pair_values = np.zeros((0, 3, 3))
            return
        rows, self.pair_columns, self.pair_values = pairs.both_triangles()
        self.pair_starts = np.searchsorted(rows, np.arange(count + 1)).astype(np.int64)

    def times(self, x: np.ndarray) -> np.ndarray:
        """Return the product (f,3) of the matrix with a vector ``x`` (f,3) over the free vertices."""
        out = np.empty_like(x)
        _multiply(len(x), *self.arrays(), x, out)
        return out

    def arrays(self) -> tuple[np.ndarray, ...]:
        """Return starts, columns and values of the elements' blocks, and those of the pairs' blocks, for kernels."""
        return self.starts, self.columns, self.values, self.pair_starts, self.pair_columns, self.pair_values

    def diagonal_blocks(self) -> np.ndarray:
        """Return the diagonal blocks (f,3,3) of the matrix."""
        D = np.empty((len(self), 3, 3))
        _take(len(D), self.values, self.diagonal, D)
        if self.pairs is not None:
            own = self.pairs.of(self.pairs.rows == self.pairs.columns)
            D[own.rows] += own.blocks
        return D


@parallel_kernel
def _take(begin, end, values, at, out):
    for v in range(begin, end):
        out[v] = values[at[v]]


@parallel_kernel
def _fill_blocks(begin, end, gather_starts, slots, transposed, blocks, out):
    for b in range(begin, end):
        sum_blocks(gather_starts[b], gather_starts[b + 1], slots, transposed, blocks, out[b])


@parallel_kernel
def _multiply(begin, end, starts, columns, values, pair_starts, pair_columns, pair_values, x, out):
    multiply_rows(begin, end, (starts, columns, values, pair_starts, pair_columns, pair_values), x, out)


@inner_kernel
def multiply_rows(begin, end, matrix, x, out):
    """Compute the rows ``begin`` to ``end - 1`` of the product of a matrix, :meth:`BlockRows.arrays`, with x (f,3)."""
    starts, columns, values, pair_starts, pair_columns, pair_values = matrix
    for v in range(begin, end):
        a = _row_product(starts[v], starts[v + 1], columns, values, x)
        b = _row_product(pair_starts[v], pair_starts[v + 1], pair_columns, pair_values, x)
        out[v, 0] = a[0] + b[0]
        out[v, 1] = a[1] + b[1]
        out[v, 2] = a[2] + b[2]


@inlined
def _row_product(first, last, columns, values, x):
    """Return the product of the blocks ``first`` to ``last - 1`` with x."""
    a0 = a1 = a2 = 0.0
    for b in range(first, last):
        u = columns[b]
        x0, x1, x2 = x[u, 0], x[u, 1], x[u, 2]
        a0 += values[b, 0, 0] * x0 + values[b, 0, 1] * x1 + values[b, 0, 2] * x2
        a1 += values[b, 1, 0] * x0 + values[b, 1, 1] * x1 + values[b, 1, 2] * x2
        a2 += values[b, 2, 0] * x0 + values[b, 2, 1] * x1 + values[b, 2, 2] * x2
    return a0, a1, a2
