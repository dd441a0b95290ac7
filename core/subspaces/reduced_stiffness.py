"""The elastic stiffness of a basis that the coordinates share, from cubature points ([SubMFEM23] Eq. 6).

It falls into blocks of coordinates i, p,

    K_ip = sum_c G_c^T Q_c,ip G_c         with Q_c,ip (3,3) the second derivatives of point c by rows i and p of F

six of them by symmetry, with a third of the arithmetic of ``B^T Q B``. The second derivatives come from the kernels
that make element matrices: a tet whose corners 2, 3, 4 have the shape gradients e_1, e_2, e_3 has them as its blocks.

Each block is the work of one thread, whose products ``Q G`` of some points stay in its processor's cache until the BLAS
has multiplied them: so the bits depend on no number of threads, and nobody waits for one that a busy machine holds up.
"""

from __future__ import annotations

import numpy as np

from ..jit import coarse_parallel_kernel, inlined

PAIRS = 6
"""Blocks (1,1), (1,2), (2,2), (1,3), ... of a symmetric 3 x 3."""

CHUNK = 80
"""Cubature points that are multiplied and summed at once."""


class ReducedStiffness:
    """Stiffness and mass by some of the unknowns.

    Parameters
    ----------
    G : (3c,r) gradients of the basis at the points
    mass : (r,r) what is added to the blocks of one coordinate
    unknowns : (f,) those that are wanted
    """

    def __init__(self, G: np.ndarray, mass: np.ndarray, unknowns: np.ndarray) -> None:
        self._unknowns, self._G = unknowns, np.ascontiguousarray(G[:, unknowns])
        self._mass = np.ascontiguousarray(mass[np.ix_(unknowns, unknowns)])

    def assemble(self, blocks: np.ndarray, matrix: np.ndarray) -> None:
        """Into the upper blocks of a matrix (3,r,3,r), from second derivatives by F in the blocks (c,10,3,3) of tets
        with unit shape gradients. What belongs to other unknowns is left as it is.
        """
        _assemble(PAIRS, blocks, self._G, self._mass, self._unknowns, matrix)


def symmetric(matrix: np.ndarray) -> np.ndarray:
    """The whole matrix (3r,3r) of one that has the upper blocks, (3,r,3,r)."""
    upper = matrix.reshape(3 * matrix.shape[1], -1)
    return np.triu(upper) + np.triu(upper, 1).T


@coarse_parallel_kernel
def _assemble(begin, end, blocks, G, mass, unknowns, matrix):
    f = G.shape[1]
    product, part, K = np.empty((3 * CHUNK, f)), np.empty((f, f)), np.empty((f, f))
    for pair in range(begin, end):
        p = 2 if pair > 2 else min(pair, 1)
        i = pair - p * (p + 1) // 2
        for j in range(f):
            for k in range(f):
                K[j, k] = mass[j, k] if i == p else 0.0
        for first in range(0, len(blocks), CHUNK):
            last = min(first + CHUNK, len(blocks))
            for c in range(first, last):
                for a in range(3):
                    x = _entry(blocks[c], a, 0, i, p)
                    y = _entry(blocks[c], a, 1, i, p)
                    z = _entry(blocks[c], a, 2, i, p)
                    row = 3 * (c - first) + a
                    for k in range(f):
                        product[row, k] = x * G[3 * c, k] + y * G[3 * c + 1, k] + z * G[3 * c + 2, k]
            np.dot(G[3 * first : 3 * last].T, product[: 3 * (last - first)], part)
            for j in range(f):
                for k in range(f):
                    K[j, k] += part[j, k]
        for j in range(f):
            for k in range(f):
                matrix[i, unknowns[j], p, unknowns[k]] = K[j, k]


@inlined
def _entry(block, a, b, i, p):
    """Second derivative by columns a, b of rows i, p of F: element blocks stand for corners (a+1, b+1), a >= b, and the
    others are their transposes.
    """
    if a >= b:
        return block[(a + 1) * (a + 2) // 2 + b + 1, i, p]
    return block[(b + 1) * (b + 2) // 2 + a + 1, p, i]
