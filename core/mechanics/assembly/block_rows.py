"""Symmetric system matrix stored by block rows, with both triangles, for matrix-vector products.

Each 3 x 3 block is the sum of blocks of element matrices in a fixed order. Results are therefore bitwise reproducible
on any number of threads.
"""

from __future__ import annotations

import numpy as np

from ...foundation.kernels.jit import parallel_kernel
from .elements import ElementNodes
from .sparsity import gathered, sum_blocks


class BlockRows:
    """Symmetric sparse matrix of 3 x 3 blocks over the f free vertices, assembled from element matrices.

    Attributes
    ----------
    starts (f+1,), columns (b,) : int64
        Block row v has the blocks ``starts[v]`` to ``starts[v + 1] - 1``, with ascending columns.
    values : (b,3,3), the blocks; :meth:`fill` recomputes them
    diagonal : (f,) index of the diagonal block of each row
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

    def fill(self, element_blocks: np.ndarray) -> None:
        """Assemble the values from the blocks (b,3,3) of all element matrices."""
        _fill_blocks(len(self.values), *self._gather, element_blocks, self.values)

    def times(self, x: np.ndarray) -> np.ndarray:
        """Return the product (f,3) of the matrix with a vector ``x`` (f,3) over the free vertices."""
        out = np.empty_like(x)
        _multiply(len(x), self.starts, self.columns, self.values, x, out)
        return out

    def indefinite_row(self) -> int | None:
        """Return the index of the first block row whose diagonal block is not positive definite, or None."""
        D = self.values[self.diagonal]
        first = D[:, 0, 0]
        second = first * D[:, 1, 1] - D[:, 1, 0] ** 2
        weak = np.flatnonzero(~((first > 0.0) & (second > 0.0) & (np.linalg.det(D) > 0.0)))
        return int(weak[0]) if len(weak) else None


@parallel_kernel
def _fill_blocks(begin, end, gather_starts, slots, transposed, blocks, out):
    for b in range(begin, end):
        sum_blocks(gather_starts[b], gather_starts[b + 1], slots, transposed, blocks, out[b])


@parallel_kernel
def _multiply(begin, end, starts, columns, values, x, out):
    for v in range(begin, end):
        a0 = a1 = a2 = 0.0
        for b in range(starts[v], starts[v + 1]):
            u = columns[b]
            x0, x1, x2 = x[u, 0], x[u, 1], x[u, 2]
            a0 += values[b, 0, 0] * x0 + values[b, 0, 1] * x1 + values[b, 0, 2] * x2
            a1 += values[b, 1, 0] * x0 + values[b, 1, 1] * x1 + values[b, 1, 2] * x2
            a2 += values[b, 2, 0] * x0 + values[b, 2, 1] * x1 + values[b, 2, 2] * x2
        out[v, 0] = a0
        out[v, 1] = a1
        out[v, 2] = a2
