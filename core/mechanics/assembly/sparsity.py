"""Block sparsity of the system matrix of a tet mesh, and assembly of the matrix values.

The matrix has no rows and columns for pinned vertices. The lower triangle is stored in compressed columns, the format
of sparse Cholesky codes, in 3 x 3 blocks. A gather lists the element blocks that add up to each block of the matrix.
The sparsity and the gather are built once per mesh. So assembly writes each value once, in parallel and bitwise
reproducible.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...foundation.kernels.jit import inlined, kernel, parallel_kernel
from .elements import ElementNodes
from .pairs import Pairs

NONE = np.zeros(0, dtype=np.int64)


class Gather(NamedTuple):
    """List of the element blocks that add up to each block of a matrix.

    Block i is the sum of the element blocks ``slots[starts[i]:starts[i+1]]``. ``starts`` (b+1,); ``slots`` (k,),
    indices of element blocks; ``transposed`` (k,) bool, the element blocks that are added transposed.
    """

    starts: np.ndarray
    slots: np.ndarray
    transposed: np.ndarray


def gathered(
    major: np.ndarray, minor: np.ndarray, slots: np.ndarray, transposed: np.ndarray, count: int
) -> tuple[np.ndarray, np.ndarray, Gather]:
    """Return the sparsity of a block matrix in compressed storage, and the :class:`Gather` of the matrix values.

    ``slots`` (k,): indices of the element blocks to add up. ``major``, ``minor`` (k,): matrix indices at which each
    element block is added. The major index is the row for storage by rows, the column for storage by columns.
    ``transposed`` (k,) bool: True if the element block is added transposed. ``count``: number of block rows, and of
    block columns.

    The sparsity consists of starts (count+1,), one per major index, and minor indices (b,). Minor indices ascend within
    each major index.
    """
    key = major * count + minor
    order = np.argsort(key, kind="stable")
    sorted_, key = key[order], np.unique(key)
    starts = np.searchsorted(key // max(count, 1), np.arange(count + 1)).astype(np.int64)
    first = np.searchsorted(sorted_, key)
    gather = Gather(np.append(first, len(order)).astype(np.int64), slots[order], transposed[order])
    return starts, key % max(count, 1), gather


@dataclass(frozen=True)
class Pattern:
    """Sparsity of the lower triangle of a symmetric matrix in compressed columns, with rows in ascending order.

    Each of the f free vertices has ``width`` scalar unknowns.

    Attributes
    ----------
    free : (f,) vertices that the unknowns belong to
    column_starts (width f + 1,), row_indices (nnz,) : int64
        Sparsity by scalar unknowns.
    block_starts (f+1,), block_rows (b,) : int64
        Sparsity by vertices, for fill-reducing orderings.
    """

    free: np.ndarray
    column_starts: np.ndarray
    row_indices: np.ndarray
    block_starts: np.ndarray
    block_rows: np.ndarray

    @property
    def size(self) -> int:
        """Number of scalar unknowns."""
        return len(self.column_starts) - 1

    @property
    def width(self) -> int:
        """Number of scalar unknowns per vertex."""
        return self.size // max(len(self.free), 1)


class BlockSparsity:
    """Sparsity of the system matrix of a tet mesh over its free vertices, and assembly of the matrix values.

    Attributes
    ----------
    free : (f,) vertices that are not pinned, ascending
    free_index : (n,) int64
        Index of each vertex among the free ones, -1 if it is pinned.
    pattern : Pattern
        Sparsity with three scalar unknowns per vertex.
    coupled : (k,)
        Keys (:meth:`keys`) of the pairs of free vertices whose blocks :meth:`with_coupled` added.
    """

    coupled = NONE

    def __init__(self, nodes: ElementNodes, vertex_count: int, pinned: np.ndarray) -> None:
        free = np.ones(vertex_count, dtype=bool)
        free[pinned] = False
        self.free = np.flatnonzero(free)
        self.free_index = free_index = np.full(vertex_count, -1, dtype=np.int64)
        free_index[self.free] = np.arange(len(self.free))

        rows, columns, slots = nodes.pairs(free_index)
        upper = rows < columns
        low, high = np.where(upper, columns, rows), np.where(upper, rows, columns)
        self._lay(*gathered(high, low, slots, upper, len(self.free)))

    @classmethod
    def of_keys(cls, keys: np.ndarray, count: int) -> BlockSparsity:
        """Return the sparsity of the blocks with the ascending ``keys`` (:meth:`keys`) over ``count`` vertices.

        Values can be added to it (:meth:`add`), but not assembled from elements.
        """
        new = cls.__new__(cls)
        new.free = new.free_index = np.arange(count)
        new._lay(np.searchsorted(keys, count * np.arange(count + 1)), keys % count, Gather(NONE, NONE, NONE))
        return new

    def _lay(self, block_starts: np.ndarray, block_rows: np.ndarray, gather: Gather) -> None:
        """Set the sparsity in compressed block columns, and the gather of element blocks."""
        self._gather, count = gather, len(self.free)
        self._keys = np.repeat(np.arange(count), np.diff(block_starts)) * count + block_rows
        # Column c of a block column contains 3 - c entries of the diagonal block and 3 of each block below.
        lengths = (3 * np.diff(block_starts)[:, None] - np.arange(3)[None, :]).ravel()
        column_starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        row_indices = np.empty(int(column_starts[-1]), dtype=np.int64)
        _fill_rows(count, block_starts, block_rows, column_starts, row_indices)
        self.pattern = Pattern(self.free, column_starts, row_indices, block_starts, block_rows)

    def keys(self, pairs: Pairs) -> np.ndarray:
        """Return an integer key per pair of free vertices, (k,). Keys sort by column, then row."""
        return pairs.columns * len(self.free) + pairs.rows

    def lacks(self, pairs: Pairs) -> np.ndarray:
        """Return the mask (k,) bool of the pairs of free vertices without a block in the sparsity."""
        keys = self.keys(pairs)
        return self._keys[np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)] != keys

    def beside(self, pairs: Pairs) -> np.ndarray:
        """Return the ascending :meth:`keys` of the pairs of free vertices without a block in the sparsity."""
        return np.sort(self.keys(pairs)[self.lacks(pairs)])

    def with_coupled(self, coupled: np.ndarray) -> BlockSparsity:
        """Return a copy with additional blocks. ``coupled`` (k,): :meth:`keys` of the pairs of free vertices to add."""
        other, gather, count = copy(self), self._gather, len(self.free)
        keys = np.union1d(self._keys, coupled)
        starts = np.searchsorted(keys, count * np.arange(count + 1))
        # Added blocks gather no element blocks.
        first = gather.starts[np.searchsorted(self._keys, np.append(keys, keys[-1] + 1))]
        other._lay(starts, keys % count, gather._replace(starts=first))
        other.coupled = coupled
        return other

    def add(self, pairs: Pairs, out: np.ndarray) -> None:
        """Add the blocks of ``pairs`` to the matrix values ``out`` (nnz,). All pairs must be in the sparsity."""
        p = self.pattern
        local = np.searchsorted(self._keys, self.keys(pairs)) - p.block_starts[pairs.columns]
        _add_blocks(p.column_starts, pairs.columns, local, pairs.blocks, out)

    def fill(self, element_blocks: np.ndarray, out: np.ndarray) -> None:
        """Assemble the element matrices into the matrix values ``out`` (nnz,).

        ``element_blocks`` (b,3,3): blocks of all element matrices. Former values in ``out`` are overwritten.
        """
        _fill_values(
            len(self.free),
            self.pattern.block_starts,
            self.pattern.column_starts,
            *self._gather,
            element_blocks,
            out,
        )

    def diagonal(self, element_blocks: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return the diagonal of the assembled element blocks at some free vertices, (k,3).

        ``element_blocks`` (b,3,3): blocks of all element matrices. ``rows`` (k,): indices of the free vertices.
        """
        starts, slots = self._gather[:2]
        own = self.pattern.block_starts[rows]
        counts = starts[own + 1] - starts[own]
        ends = np.cumsum(counts)
        at = np.arange(ends[-1]) + np.repeat(starts[own] - ends + counts, counts)
        diagonals = np.diagonal(element_blocks[slots[at]], axis1=1, axis2=2)
        return np.add.reduceat(diagonals, ends - counts)


@kernel
def _add_blocks(column_starts, columns, local, blocks, out):
    for k in range(len(columns)):
        for c in range(3):
            at = column_starts[3 * columns[k] + c] + 3 * local[k] - c
            for r in range(c if local[k] == 0 else 0, 3):
                out[at + r] += blocks[k, r, c]


@parallel_kernel
def _fill_rows(begin, end, block_starts, block_rows, column_starts, rows):
    for v in range(begin, end):
        for c in range(3):
            at = column_starts[3 * v + c]
            for b in range(block_starts[v], block_starts[v + 1]):
                for r in range(c if b == block_starts[v] else 0, 3):
                    rows[at] = 3 * block_rows[b] + r
                    at += 1


@inlined
def sum_blocks(begin, end, slots, transposed, blocks, out):
    """Compute the sum of the element blocks ``blocks[slots[begin:end]]``, partly ``transposed``, into out (3,3)."""
    a00 = a01 = a02 = a10 = a11 = a12 = a20 = a21 = a22 = 0.0  # in registers
    for k in range(begin, end):
        K = blocks[slots[k]]
        a00 += K[0, 0]
        a11 += K[1, 1]
        a22 += K[2, 2]
        if transposed[k]:
            a01, a02, a12 = a01 + K[1, 0], a02 + K[2, 0], a12 + K[2, 1]
            a10, a20, a21 = a10 + K[0, 1], a20 + K[0, 2], a21 + K[1, 2]
        else:
            a01, a02, a12 = a01 + K[0, 1], a02 + K[0, 2], a12 + K[1, 2]
            a10, a20, a21 = a10 + K[1, 0], a20 + K[2, 0], a21 + K[2, 1]
    out[0, 0], out[0, 1], out[0, 2] = a00, a01, a02
    out[1, 0], out[1, 1], out[1, 2] = a10, a11, a12
    out[2, 0], out[2, 1], out[2, 2] = a20, a21, a22


@parallel_kernel
def _fill_values(begin, end, block_starts, column_starts, gather_starts, slots, transposed, blocks, out):
    total = np.empty((3, 3))
    for v in range(begin, end):
        for b in range(block_starts[v], block_starts[v + 1]):
            sum_blocks(gather_starts[b], gather_starts[b + 1], slots, transposed, blocks, total)
            local = b - block_starts[v]
            for c in range(3):
                # First entry of this block in scalar column c: the diagonal block has 3 - c entries, others 3.
                at = column_starts[3 * v + c] + (0 if local == 0 else 3 * local - c)
                for r in range(c if local == 0 else 0, 3):
                    out[at] = total[r, c]
                    at += 1
