"""The 3x3-block sparsity of a tet mesh without its pinned vertices, built once; and the gather that refills its values.

The lower triangle is kept in compressed columns, as sparse Cholesky codes want it. For every block the list of element
blocks that add to it is fixed, so refilling writes each value once, in parallel, with the same bits every time.
"""

from __future__ import annotations

import numpy as np
from numba import prange

from ..jit import parallel_kernel

# The ten corner pairs (a, b), a >= b, of a tet's symmetric matrix.
_PAIR_ROWS = np.array([0, 1, 1, 2, 2, 2, 3, 3, 3, 3])
_PAIR_COLUMNS = np.array([0, 0, 1, 0, 1, 2, 0, 1, 2, 3])


class BlockSparsity:
    """Lower-triangular pattern over free vertices.

    Attributes
    ----------
    free : (f,) vertices that are not pinned, in order
    size : int
        3 f
    column_starts (3f+1,), row_indices (nnz,) : int64
        Scalar compressed columns, rows ascending.
    block_starts (f+1,), block_rows (b,) : int64
        The same by blocks: what an ordering of vertices needs.
    """

    def __init__(self, tets: np.ndarray, vertex_count: int, pinned: np.ndarray) -> None:
        free = np.ones(vertex_count, dtype=bool)
        free[pinned] = False
        self.free = np.flatnonzero(free)
        number = np.full(vertex_count, -1, dtype=np.int64)
        number[self.free] = np.arange(len(self.free))
        self.size = 3 * len(self.free)

        rows = number[tets[:, _PAIR_ROWS]].ravel()
        columns = number[tets[:, _PAIR_COLUMNS]].ravel()
        slots = np.arange(len(rows), dtype=np.int64)
        keep = (rows >= 0) & (columns >= 0)
        rows, columns, slots = rows[keep], columns[keep], slots[keep]
        transposed = rows < columns
        low = np.where(transposed, columns, rows)
        key = np.where(transposed, rows, columns) * len(self.free) + low
        order = np.argsort(key, kind="stable")
        key, first = np.unique(key[order], return_index=True)

        self.block_rows = key % max(len(self.free), 1)
        block_columns = key // max(len(self.free), 1)
        self.block_starts = np.searchsorted(block_columns, np.arange(len(self.free) + 1)).astype(np.int64)
        self._gather_starts = np.append(first, len(order)).astype(np.int64)
        self._gather_slots = slots[order]
        self._gather_transposed = transposed[order]
        self._scalar_pattern()

    def _scalar_pattern(self) -> None:
        blocks = np.diff(self.block_starts)
        # Column c of a block column holds 3 - c entries of the diagonal block and 3 of each block below.
        lengths = (3 * blocks[:, None] - np.arange(3)[None, :]).ravel()
        self.column_starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        self.row_indices = _fill_rows(
            self.block_starts, self.block_rows, self.column_starts, int(self.column_starts[-1])
        )

    def fill(self, element_blocks: np.ndarray, out: np.ndarray) -> None:
        """Sum element blocks (m,10,3,3) into the scalar values (nnz,) of the pattern."""
        _fill_values(
            self.block_starts,
            self.column_starts,
            self._gather_starts,
            self._gather_slots,
            self._gather_transposed,
            element_blocks.reshape(-1, 3, 3),
            out,
        )


@parallel_kernel
def _fill_rows(block_starts, block_rows, column_starts, count):
    rows = np.empty(count, dtype=np.int64)
    for v in prange(block_starts.shape[0] - 1):
        for c in range(3):
            at = column_starts[3 * v + c]
            for b in range(block_starts[v], block_starts[v + 1]):
                for r in range(c if b == block_starts[v] else 0, 3):
                    rows[at] = 3 * block_rows[b] + r
                    at += 1
    return rows


@parallel_kernel
def _fill_values(block_starts, column_starts, gather_starts, slots, transposed, blocks, out):
    for v in prange(block_starts.shape[0] - 1):
        total = np.empty((3, 3))
        for b in range(block_starts[v], block_starts[v + 1]):
            for r in range(3):
                for c in range(3):
                    total[r, c] = 0.0
            for k in range(gather_starts[b], gather_starts[b + 1]):
                K = blocks[slots[k]]
                for r in range(3):
                    for c in range(3):
                        total[r, c] += K[c, r] if transposed[k] else K[r, c]
            local = b - block_starts[v]
            for c in range(3):
                # Where this block begins in scalar column c: the diagonal block gives 3 - c entries, others 3.
                at = column_starts[3 * v + c] + (0 if local == 0 else 3 * local - c)
                for r in range(c if local == 0 else 0, 3):
                    out[at] = total[r, c]
                    at += 1


@parallel_kernel
def element_blocks(H, N, weights, masses, out):
    """Element matrices over corners from Hessians by F: ``weights N_a H N_b + mass``, lower pairs only, into out
    (m,10,3,3).

    H (m,9,9) over ``F.ravel()``; N (m,4,3); weights and masses (m,); the mass is the consistent one.
    """
    for e in prange(H.shape[0]):
        T = np.empty((9, 3))
        pair = 0
        for a in range(4):
            # T[:, j] = H . (e_j N_a^T)
            for p in range(9):
                for j in range(3):
                    T[p, j] = weights[e] * (
                        H[e, p, 3 * j] * N[e, a, 0] + H[e, p, 3 * j + 1] * N[e, a, 1] + H[e, p, 3 * j + 2] * N[e, a, 2]
                    )
            for b in range(a + 1):
                for i in range(3):
                    for j in range(3):
                        out[e, pair, j, i] = (
                            T[3 * i, j] * N[e, b, 0] + T[3 * i + 1, j] * N[e, b, 1] + T[3 * i + 2, j] * N[e, b, 2]
                        )
                inertia = masses[e] * (0.1 if a == b else 0.05)
                for i in range(3):
                    out[e, pair, i, i] += inertia
                pair += 1
