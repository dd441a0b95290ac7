"""Symmetric matrices as lists of 3 x 3 blocks per pair of vertices.

The two vertices of a pair need not share a tet. For example, they belong to two bodies in contact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp


class Pairs(NamedTuple):
    """Symmetric matrix over vertices, as a list of the k blocks (3,3) in the lower triangle.

    ``blocks`` (k,3,3) at the vertices ``rows`` (k,) >= ``columns`` (k,). No pair of vertices occurs twice. Diagonal
    blocks are stored in full.
    """

    rows: np.ndarray
    columns: np.ndarray
    blocks: np.ndarray

    def scaled(self, factor: float) -> Pairs:
        """Return the matrix times ``factor``."""
        return self._replace(blocks=factor * self.blocks)

    def renumbered(self, number: np.ndarray) -> Pairs:
        """Return the blocks with each vertex v renamed to ``number[v]``.

        Blocks of vertices with the number -1 are dropped. ``number`` (n,): new numbers, ascending apart from the
        entries -1.
        """
        kept = self.of((number[self.rows] >= 0) & (number[self.columns] >= 0))
        return kept._replace(rows=number[kept.rows], columns=number[kept.columns])

    def of(self, chosen: np.ndarray) -> Pairs:
        """Return the blocks that the mask ``chosen`` (k,) bool selects."""
        return Pairs(self.rows[chosen], self.columns[chosen], self.blocks[chosen])

    def lumped(self) -> Pairs:
        """Return the diagonal matrix D that bounds this matrix A from above: ``x^T A x <= x^T D x``.

        A diagonal entry of D is the sum of the absolute values in a row of A. D has one diagonal block (3,3) per
        vertex. A must not have diagonal blocks, whose values would be counted twice.
        """
        vertices, at = np.unique(np.concatenate([self.rows, self.columns]), return_inverse=True)
        sizes, total = np.abs(self.blocks), np.zeros((len(vertices), 3))
        np.add.at(total, np.ravel(at), np.concatenate([sizes.sum(axis=2), sizes.sum(axis=1)]))
        return Pairs(vertices, vertices, total[:, :, None] * np.eye(3))

    def matrix(self, count: int) -> sp.csr_matrix:
        """Return the matrix in scalar form, (3n,3n) with both triangles, over n = ``count`` vertices."""
        rows, columns, blocks = self.both_triangles()
        starts = np.searchsorted(rows, np.arange(count + 1))
        return sp.bsr_matrix((blocks, columns, starts), shape=(3 * count, 3 * count)).tocsr()

    def both_triangles(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return rows, columns and blocks (3,3) of both triangles, sorted by row, then column."""
        off = self.rows != self.columns
        rows, columns = np.r_[self.rows, self.columns[off]], np.r_[self.columns, self.rows[off]]
        order = np.lexsort((columns, rows))
        blocks = np.concatenate([self.blocks, self.blocks[off].transpose(0, 2, 1)])[order]
        return rows[order].astype(np.int64), columns[order].astype(np.int64), blocks


def pairs_of(matrix: sp.spmatrix) -> Pairs:
    """Return the 3 x 3 blocks in the lower triangle of a symmetric ``matrix`` (3n,3n) over n vertices."""
    blocks = matrix.tobsr((3, 3))
    blocks.sum_duplicates()
    rows = np.repeat(np.arange(len(blocks.indptr) - 1), np.diff(blocks.indptr))
    lower = rows >= blocks.indices
    return Pairs(rows[lower], blocks.indices[lower].astype(np.int64), blocks.data[lower])


def joined_pairs(several: Sequence[Pairs]) -> Pairs | None:
    """Return the sum of several matrices over the same vertices, or None if no matrix has a block."""
    several = [each for each in several if len(each.rows)]
    if len(several) < 2:
        return several[0] if several else None
    rows, columns, blocks = (np.concatenate(parts) for parts in zip(*several))
    # One key per pair of vertices, which NumPy sorts faster than pairs of numbers.
    keys, first, index = np.unique(rows * (rows.max() + 1) + columns, return_index=True, return_inverse=True)
    total = np.zeros((len(keys), 3, 3))
    np.add.at(total, index, blocks)
    return Pairs(rows[first], columns[first], total)
