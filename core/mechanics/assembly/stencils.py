"""Hessians of terms that depend on up to four points (stencils), and assembly into blocks per vertex pair.

The points, for example on a surface in contact, are interpolated from vertices.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ...foundation.kernels.jit import kernel, parallel_kernel
from .pairs import Pairs


class Stencils(NamedTuple):
    """Batch of k symmetric Hessians of energy terms. Each term depends on at most four points.

    ``points`` (k,4): indices of the points, padded with -1. ``blocks`` (k,4,3,4,3), N/m: Hessian of each term, padded
    with 0.
    """

    points: np.ndarray
    blocks: np.ndarray

    def times(self, x: np.ndarray) -> np.ndarray:
        """Return the product of the sum of all stencils with a vector over the p points, ``x`` (p,3). The result is
        (p,3).
        """
        out, at = np.zeros_like(x), np.maximum(self.points, 0)
        np.add.at(out, at, np.einsum("kiajb,kjb->kia", self.blocks, x[at], optimize=True))
        return out

    def matrix(self, count: int) -> sp.csr_matrix:
        """Return the sum of the stencils as a sparse matrix over the first ``count`` points.

        All other points are fixed. The result is (3n,3n) for n = ``count``.
        """
        return self.pairs(np.arange(count)[:, None], np.ones((count, 1)), count).matrix(count)

    def pairs(self, carriers: np.ndarray, shares: np.ndarray, count: int) -> Pairs:
        """Return the sum of the stencils as a matrix over ``count`` vertices.

        The stencils' first p points are interpolated from the vertices. ``carriers`` (p,c): vertices of each point,
        padded with -1; ``shares`` (p,c): interpolation weights of the vertices. Points with larger indices are fixed
        points of obstacles and contribute nothing.
        """
        room = max(64, 4 * len(self.points))
        while True:
            found, keys, blocks = np.full(4 * room, -1), np.empty(room, dtype=np.int64), np.zeros((room, 3, 3))
            used = _summed(self.points, self.blocks, carriers, shares, count, found, keys, blocks)
            if used <= room:
                break
            room *= 4
        order = np.argsort(keys[:used])
        keys = keys[order]
        return Pairs(keys // count, keys % count, blocks[order])


def joined_stencils(several: Sequence[Stencils]) -> Stencils:
    """Return the concatenation of several batches of stencils. If only one has points, it is returned itself."""
    filled = [each for each in several if len(each.points)]
    if len(filled) == 1:
        return filled[0]
    return Stencils(*(np.concatenate(parts) for parts in zip(*several)))


def stencils_of(shares: sp.csr_matrix, K: np.ndarray) -> Stencils:
    """Return the stencils of k springs with the stiffness matrices ``K`` (k,3,3), N/m.

    The displacement of spring i is a linear combination of up to four points, with the weights in row i of ``shares``
    (k,p).
    """
    counts = np.diff(shares.indptr)
    rows = np.repeat(np.arange(len(K)), counts)
    at = np.arange(len(shares.data)) - np.repeat(shares.indptr[:-1], counts)
    points, own = np.full((len(K), 4), -1, dtype=np.int64), np.zeros((len(K), 4))
    points[rows, at], own[rows, at] = shares.indices, shares.data
    return spring_stencils(points, own, K)


def spring_stencils(points: np.ndarray, shares: np.ndarray, K: np.ndarray) -> Stencils:
    """Return the stencils of springs as :func:`stencils_of`, for the ``points`` (k,4) and their weights ``shares``."""
    blocks = np.empty((len(K), 4, 3, 4, 3))
    _fill_springs(len(K), shares, K, blocks)
    return Stencils(points, blocks)


@parallel_kernel
def _fill_springs(begin, end, shares, K, blocks):
    for p in range(begin, end):
        for i in range(4):
            for k in range(3):
                for j in range(4):
                    scale = shares[p, i] * shares[p, j]
                    for n in range(3):
                        blocks[p, i, k, j, n] = scale * K[p, k, n]


@kernel
def _summed(points, stencils, carriers, shares, count, found, keys, blocks):
    """Sum the Hessians of all terms into one block (3,3) per pair of vertices; return the number of pairs.

    ``points``, ``stencils``: fields of :class:`Stencils`. ``carriers``, ``shares``: interpolation of the points as in
    :meth:`Stencils.pairs`. ``keys`` receives each pair as row times ``count`` plus column. ``found``: hash table of
    indices into ``keys``, -1 if empty. If ``keys`` is too short, the result is its length plus one.
    """
    used, width = 0, carriers.shape[1]
    vertex, share = np.empty(4 * width, dtype=np.int64), np.empty(4 * width)
    owner = np.empty(4 * width, dtype=np.int64)
    for p in range(len(points)):
        m = 0
        for i in range(4):
            point = points[p, i]
            if point < 0 or point >= len(carriers):
                continue
            for c in range(width):
                if carriers[point, c] >= 0:
                    vertex[m], share[m], owner[m] = carriers[point, c], shares[point, c], i
                    m += 1
        for a in range(m):
            for b in range(m):
                if vertex[a] < vertex[b]:
                    continue
                key = vertex[a] * count + vertex[b]
                slot = (key * 2654435761) % len(found)
                while found[slot] >= 0 and keys[found[slot]] != key:
                    slot = (slot + 1) % len(found)
                at = found[slot]
                if at < 0:
                    if used == len(keys):
                        return used + 1
                    at = found[slot] = used
                    keys[at] = key
                    used += 1
                scale = share[a] * share[b]
                for k in range(3):
                    for n in range(3):
                        blocks[at, k, n] += scale * stencils[p, owner[a], k, owner[b], n]
    return used
