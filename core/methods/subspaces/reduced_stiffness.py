"""Elastic stiffness of a scalar basis from cubature points ([SubMFEM23] Eq. 6).

The matrix consists of one block per pair of axes i, p,

    K_ip = sum_c G_c^T Q_c,ip G_c

Q_c,ip (3,3) holds the second derivatives of the elastic energy at cubature point c by the rows i and p of the
deformation gradient F; ``tangent_blocks`` computes it. G_c (3,r) holds the gradients of the r basis functions. By
symmetry, only six blocks are computed. This takes a third of the arithmetic of ``B^T Q B``, where B (9,3r) maps the
unknowns to F.

One thread computes a few columns of a block, so the result is bitwise independent of the number of threads. The BLAS
multiplies tiles of few columns and few points, which stay in the processor's nearest cache.
"""

from __future__ import annotations

import numpy as np

from ...foundation.kernels.aligned import aligned
from ...foundation.kernels.jit import THREADS, inlined, inner_kernel, kernel
from ...foundation.kernels.shared_items import ItemKernel, done, take

BLOCKS = 6
"""Number of blocks on and above the diagonal of a symmetric matrix of 3 x 3 blocks.

The blocks are computed in the order (1,2), (1,3), (2,3), (1,1), (2,2), (3,3). The diagonal blocks are the cheapest and
come last, so that threads end at about the same time.
"""

CHUNK = 80
"""Number of cubature points that are multiplied and summed at once."""

TILE = 32
"""Approximate number of columns of basis gradients that one thread multiplies at once."""

FEW = 1_000_000
"""Amount of work above which several threads are faster than one thread.

The amount is the number of cubature points, times the number of entries of a block.
"""


class ReducedStiffness:
    """Assembly of the matrix of a subspace with r unknowns: elastic stiffness plus mass.

    Parameters
    ----------
    G : (3c,r) gradients of the r basis functions at the c cubature points
    mass : (r,r) mass matrix, which is added to each of the blocks xx, yy and zz
    """

    def __init__(self, G: np.ndarray, mass: np.ndarray) -> None:
        self._tiles, self._mass = _tiles(G), np.ascontiguousarray(mass)

    def assemble(self, blocks: np.ndarray, matrix: np.ndarray) -> None:
        """Fill a ``matrix`` (3,r,3,r) with stiffness plus mass.

        ``blocks`` (c,6,3,3): second derivatives of the energy by the deformation gradient at each cubature point, in
        the format of ``tangent_blocks``. Only the blocks ``matrix[i,:,p,:]`` for axes i <= p are filled. If i = p, only
        the upper triangle is valid.
        """
        run = _assemble if THREADS > 1 and len(blocks) * self._mass.size > FEW else _assemble.alone
        run(BLOCKS * len(self._tiles), blocks, self._tiles, self._mass, matrix)


def symmetric(matrix: np.ndarray) -> np.ndarray:
    """Return the full symmetric matrix (3r,3r) from a ``matrix`` (3,r,3,r) with a valid upper triangle."""
    upper = matrix.reshape(3 * matrix.shape[1], -1)
    return np.triu(upper) + np.triu(upper, 1).T


def stress_changes(blocks: np.ndarray, dF: np.ndarray) -> np.ndarray:
    """Return the changes (c,3,3) of stresses times volumes, for changes dF (c,3,3) of the deformation gradients.

    ``blocks`` (c,6,3,3): second derivatives of the energy as in :meth:`ReducedStiffness.assemble`.
    """
    stress = np.empty_like(dF)
    _stress_changes(blocks, dF, stress)
    return stress


@kernel
def _stress_changes(blocks, dF, stress):
    for c in range(len(blocks)):
        for i in range(3):
            for a in range(3):
                total = 0.0
                for p in range(3):
                    x, y, z = _row(blocks[c], a, i, p)
                    total += x * dF[c, p, 0] + y * dF[c, p, 1] + z * dF[c, p, 2]
                stress[c, i, a] = total


def _tiles(G: np.ndarray) -> np.ndarray:
    """Split the r columns of G (n,r) into tiles of equal width, (tiles,n,width), padded with zeros."""
    rows, r = G.shape
    width = max(1, -(-r // max(1, round(r / TILE))))
    begins = range(0, r, width)
    tiles = aligned(len(begins) * rows, width).reshape(-1, rows, width)
    tiles.fill(0.0)
    for tile, begin in zip(tiles, begins, strict=True):
        tile[:, : min(width, r - begin)] = G[:, begin : begin + width]
    return tiles


@ItemKernel
def _assemble(items, blocks, tiles, mass, matrix):
    """Compute work items of the assembly until none is left: the columns of one tile in one block of the matrix."""
    count, _, width = tiles.shape
    product, part, K = aligned(3 * CHUNK, width), np.empty((width, width)), np.empty((count, width, width))
    item = take(items)
    while item >= 0:
        block, u = item // count, count - 1 - item % count
        i, p = (max(block - 1, 0), min(block + 1, 2)) if block < 3 else (block - 3, block - 3)
        rows = u + 1 if i == p else count
        for first in range(0, len(blocks), CHUNK):
            last = min(first + CHUNK, len(blocks))
            points = slice(3 * first, 3 * last)
            _multiply(blocks[first:last], i, p, tiles[u, points], product)
            for t in range(rows):
                sums = K[t] if first == 0 else part
                np.dot(tiles[t, points].T, product[: 3 * (last - first)], sums)
                if first > 0:
                    _add(part, K[t])
        for t in range(rows):
            _put(K[t], t * width, u * width, mass, 1.0 if i == p else 0.0, matrix[i, :, p])
        done(items)
        item = take(items)


@inner_kernel
def _multiply(blocks, i, p, G, product):
    """Fill ``product`` with ``Q_ip G`` for a chunk of c cubature points.

    Q_ip (3,3) are the second derivatives of the energy of a point by the rows ``i`` and ``p`` of the deformation
    gradient. ``G`` (3c,width): gradients of the basis functions of one tile.
    """
    for c in range(len(blocks)):
        for a in range(3):
            x, y, z = _row(blocks[c], a, i, p)
            out = product[3 * c + a]
            for k in range(len(out)):
                out[k] = x * G[3 * c, k] + y * G[3 * c + 1, k] + z * G[3 * c + 2, k]


@inner_kernel
def _add(part, K):
    for j in range(part.shape[0]):
        for k in range(part.shape[1]):
            K[j, k] += part[j, k]


@inner_kernel
def _put(K, row, column, mass, mass_factor, block):
    """Write a tile K (width,width) plus ``mass_factor`` times the same tile of ``mass`` (r,r) to ``block`` (r,r)."""
    r = len(mass)
    for j in range(min(len(K), r - row)):
        out, its_mass = block[row + j], mass[row + j]
        for k in range(min(len(K), r - column)):
            out[column + k] = K[j, k] + mass_factor * its_mass[column + k]


@inlined
def _row(block, a, i, p):
    return _entry(block, a, 0, i, p), _entry(block, a, 1, i, p), _entry(block, a, 2, i, p)


@inlined
def _entry(block, a, b, i, p):
    """Return the second derivative of the energy by the entries (i, a) and (p, b) of the deformation gradient."""
    if a >= b:
        return block[a * (a + 1) // 2 + b, i, p]
    return block[b * (b + 1) // 2 + a, p, i]
