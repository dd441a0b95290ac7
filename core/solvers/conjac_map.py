"""The map of [ConJac20] from its dynamic nodes to all vertices, ``v = J v_d``: what the rest does where the forces on
it have no sum.

A node is a mean ``B x`` (:mod:`..model.nodes`). J's columns are the movements dx of least energy ``1/2 dx . K dx`` with
``B dx = d``. With a vertex of each node, its centre c, held, K_qq of the others has a factor, and with

    Y = -K_qq^-1 K_qc,      Q = K_qq^-1 B_q^T,      dx = (y, Y y - Q mu)

the least energy is where ``S_c y + A^T mu = 0`` and ``A y - H mu = d``, for ``S_c = K_cc + K_cq Y`` (Schur's
complement), ``A = B_c + B_q Y`` and ``H = B_q Q``. Of single vertices B_q is zero, y is d, and J is the paper's Eq. 6.
``S = J^T K J`` is the force ``-mu`` for unit d. The same small matrix serves what the others do for forces on them
while the nodes stay (the paper's b_q).
"""

from __future__ import annotations

import numpy as np

from ..linear_solvers.linear_system import LinearSystem
from ..model.nodes import Nodes

CORNERS = 4


class ConJacMap:
    """J and what goes with it, of a system that was factorised with the nodes' centres pinned.

    Parameters
    ----------
    system : over all vertices but pins and centres
    tets : (m,4)
    nodes : k of them
    pinned : (p,) vertices that are given; their part of what follows is zero

    ``J`` (n,3,3k), columns by node, then axis; ``stiffness`` S (3k,3k), in the system's units (kg: times h²).
    """

    def __init__(self, system: LinearSystem, tets: np.ndarray, nodes: Nodes, pinned: np.ndarray) -> None:
        self._system, self._nodes, self._k = system, nodes, len(nodes.centres)
        n, size = nodes.rows.shape[1], 3 * self._k
        self._at_centres = self._columns(tets, n)
        self._at_centres[pinned] = 0.0
        others = self._at_centres.copy()
        others[nodes.centres] = 0.0
        self._is_mean = nodes.rows.nnz > self._k
        means = self._means(n)
        solved = system.solve_columns(np.concatenate([-others, means], axis=2) if self._is_mean else -others)
        Y, self._Q = solved[:, :, :size], solved[:, :, size:]
        Y[nodes.centres] = np.eye(size).reshape(self._k, 3, size)
        self._Y, self._others = Y, others
        S = self._at_centres[nodes.centres].reshape(size, size) + np.tensordot(others, Y, axes=((0, 1), (0, 1)))
        self._S = 0.5 * (S + S.T)
        A = self._rows(Y)
        H = self._rows(self._Q) if self._is_mean else np.zeros((size, size))
        self._inverse = np.linalg.inv(np.block([[self._S, A.T], [A, -0.5 * (H + H.T)]]))
        found = self._inverse[:, size:]
        self.J = self._moved(found)
        self.stiffness = -0.5 * (found[size:] + found[size:].T)

    def settled(self, gradient: np.ndarray) -> np.ndarray:
        """Newton's step (n,3) down a gradient (n,3) while the nodes stay."""
        g = gradient.copy()
        g[self._nodes.centres] = 0.0
        p = self._system.solve(-g)
        if not self._k:
            return p
        r = np.tensordot(self._Y, gradient, axes=((0, 1), (0, 1)))
        found = self._inverse @ np.concatenate([-r, -self._rows(p[:, :, None])[:, 0]])
        return p + self._moved(found[:, None])[:, :, 0]

    def _moved(self, found: np.ndarray) -> np.ndarray:
        """Movements (n,3,c) of y and mu, columns (6k,c)."""
        size = 3 * self._k
        moved = np.tensordot(self._Y, found[:size], axes=1)
        if self._is_mean:
            moved -= np.tensordot(self._Q, found[size:], axes=1)
        return moved

    def _rows(self, columns: np.ndarray) -> np.ndarray:
        """``B x`` of columns (n,3,c), (3k,c)."""
        n, _, count = columns.shape
        return (self._nodes.rows @ columns.reshape(n, -1)).reshape(3 * self._k, count)

    def _means(self, n: int) -> np.ndarray:
        """``B^T`` without the centres, (n,3,3k)."""
        means = np.zeros((n, 3, self._k, 3))
        rows = self._nodes.rows.tocoo()
        for i in range(3):
            means[rows.col, i, rows.row, i] = rows.data
        means[self._nodes.centres] = 0.0
        return means.reshape(n, 3, -1)

    def _columns(self, tets: np.ndarray, n: int) -> np.ndarray:
        """K's columns of the centres, (n,3,3k), from the element blocks, and from what the matrix has beside them."""
        columns, blocks = np.zeros((n, 3, self._k, 3)), self._system.blocks
        for k, centre in enumerate(self._nodes.centres):
            element, corner = np.nonzero(tets == centre)
            for other in range(CORNERS):
                first, second = np.maximum(corner, other), np.minimum(corner, other)
                pair = blocks[element, first * (first + 1) // 2 + second]
                # A pair's rows are of its first corner.
                pair = np.where((other >= corner)[:, None, None], pair, pair.transpose(0, 2, 1))
                np.add.at(columns[:, :, k], tets[element, other], pair)
        columns = columns.reshape(n, 3, -1)
        if self._system.low_rank is not None:
            vectors, core = self._system.low_rank
            columns += np.tensordot(vectors, core @ vectors[self._nodes.centres].reshape(-1, len(core)).T, axes=1)
        return columns


def products(blocks: np.ndarray, tets: np.ndarray, T: np.ndarray) -> np.ndarray:
    """``T^T K T`` (k,k) for element blocks (m,10,3,3) and columns (n,3,k): of those tets that have any."""
    felt = np.flatnonzero(blocks.any(axis=(1, 2, 3)))
    total = np.zeros((T.shape[2], T.shape[2]))
    for a in range(CORNERS):
        rows = T[tets[felt, a]]
        for b in range(a + 1):
            part = np.einsum("mij,mjk->mik", blocks[felt, a * (a + 1) // 2 + b], T[tets[felt, b]], optimize=True)
            product = np.tensordot(rows, part, axes=((0, 1), (0, 1)))
            total += product if a == b else product + product.T
    return total
