"""Map of [ConJac20] from dynamic nodes to all vertices, ``v = J v_d``: the forces on quasistatic vertices balance.

The position of a node is a weighted mean in a ball around one vertex, the central vertex of the node. The positions of
all nodes are ``B x``, with the weights B and the vertex positions x. J's columns are the displacements dx of least
energy ``1/2 dx . K dx`` with ``B dx = d``, for unit displacements d of the nodes. The index c stands for the central
vertices, and q for all other vertices. With the central vertices fixed, the stiffness K_qq is not singular. The
displacements are

    dx = (y, Y y - Q mu),      Y = -K_qq^-1 K_qc,      Q = K_qq^-1 B_q^T

where y are the displacements of the central vertices, and mu the Lagrange multipliers of ``B dx = d``. The energy is
least for ``S_c y + A^T mu = 0`` and ``A y - H mu = d``. Here ``S_c = K_cc + K_cq Y`` (Schur complement),
``A = B_c + B_q Y`` and ``H = B_q Q``. If each node is a single vertex, B_q is zero, y is d, and J is the paper's Eq. 6.
The stiffness of the nodes, ``J^T K J``, is the force ``-mu`` for unit d. The matrix of the two equations for y and mu
also yields the displacements due to forces on the quasistatic vertices while the nodes are fixed (the paper's b_q).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from ...mechanics.assembly.elements import ElementNodes
from ...mechanics.energies.tangent import Tangent
from ...numerics.linear_solvers.linear_system import LinearSystem
from ..model.nodes import Nodes

ROWS = 1024
"""Number of vertices per chunk of the mass matrix in :func:`project_mass`."""

BLOCKS = 4096
"""Number of element blocks per chunk in :func:`project_stiffness`."""


class ConJacMap:
    """Map J of [ConJac20] from the displacements of dynamic nodes to the displacements of all vertices.

    ConJac integrates the motion of the k nodes in time. All other vertices are quasistatic: J moves them to where the
    elastic forces on them balance.

    Parameters
    ----------
    system : linear system, factorised with the pins and the nodes' central vertices prescribed
    elements : vertices of the elements
    nodes : k dynamic nodes
    pinned : (p,) indices of prescribed vertices; their rows of J are zero

    Attributes
    ----------
    J : (n,3,3k) the map, with columns by node, then axis
    stiffness : (3k,3k) kg, ``J^T K J`` times the squared step, with the stiffness K of the body
    """

    def __init__(self, system: LinearSystem, elements: ElementNodes, nodes: Nodes, pinned: np.ndarray) -> None:
        self._system, self._nodes, self._k = system, nodes, len(nodes.centres)
        n, size = nodes.rows.shape[1], 3 * self._k
        coupled, coupling = self._coupling(elements, n)
        coupling[np.isin(coupled, pinned)] = 0.0
        own = np.searchsorted(coupled, nodes.centres)
        S = -coupling[own].reshape(size, size)
        coupling[own] = 0.0
        self._is_mean = nodes.rows.nnz > self._k
        # Columns of Y, then of Q.
        self._solved = np.zeros((n, 3, 2 * size if self._is_mean else size))
        self._solved[coupled, :, :size] = coupling
        if self._is_mean:
            self._solved[:, :, size:] = nodes.means()
        system.solve_columns(self._solved)
        self._solved[nodes.centres, :, :size] = np.eye(size).reshape(self._k, 3, size)  # displacements of the centres
        S = S - np.tensordot(coupling, self._solved[coupled, :, :size], axes=((0, 1), (0, 1)))
        S = 0.5 * (S + S.T)
        if not self._is_mean:
            self.J, self.stiffness = self._solved, S
            return
        A, H = np.hsplit(self._rows(self._solved), 2)
        self._inverse = np.linalg.inv(np.block([[S, A.T], [A, -0.5 * (H + H.T)]]))
        found = self._inverse[:, size:]
        self.J = self._moved(found)
        self.stiffness = -0.5 * (found[size:] + found[size:].T)

    def newton_step(self, gradient: np.ndarray) -> np.ndarray:
        """Return the Newton step (n,3) m of the quasistatic vertices. The nodes are held fixed.

        ``gradient`` (n,3), kg m: gradient of the incremental potential.
        """
        g = gradient.copy()
        g[self._nodes.centres] = 0.0
        p = self._system.solve(-g)
        if not self._is_mean:
            return p
        r = project_vector(self._solved, gradient)[: 3 * self._k]
        found = self._inverse @ np.concatenate([-r, -self._rows(p[:, :, None])[:, 0]])
        return p + self._moved(found[:, None])[:, :, 0]

    def _moved(self, found: np.ndarray) -> np.ndarray:
        """Return the displacements (n,3,c) of all vertices from solutions ``found`` (6k,c).

        A column of ``found`` holds the 3k displacements of the nodes' central vertices, then 3k Lagrange multipliers.
        """
        size = 3 * self._k
        return np.tensordot(self._solved, np.concatenate([found[:size], -found[size:]]), axes=1)

    def _rows(self, columns: np.ndarray) -> np.ndarray:
        """Return the displacements of the nodes, (3k,c), for displacements of all vertices, (n,3,c)."""
        n, _, count = columns.shape
        return (self._nodes.rows @ columns.reshape(n, -1)).reshape(3 * self._k, count)

    def _coupling(self, nodes: ElementNodes, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the indices (f,) of the vertices coupled to the nodes' centres, and the coupling block (f,3,3k).

        The block is that of the negated stiffness matrix.
        """
        node, low_rank = np.full(n, -1), self._system.low_rank
        node[self._nodes.centres] = np.arange(self._k)
        rows, columns = nodes.vertex_pairs
        below, above = np.flatnonzero(node[columns] >= 0), np.flatnonzero((node[rows] >= 0) & (rows != columns))
        coupled = np.unique(np.concatenate([rows[below], columns[above], self._nodes.centres]))
        coupled = coupled if low_rank is None else np.arange(n)
        coupling = np.zeros((len(coupled), 3, self._k, 3))
        # Blocks have the row vertex first, so those of the upper triangle are transposed.
        for slots, vertex, centre, order in ((below, rows, columns, (0, 1, 2)), (above, columns, rows, (0, 2, 1))):
            index = np.searchsorted(coupled, vertex[slots]), slice(None), node[centre[slots]]
            np.subtract.at(coupling, index, self._system.blocks[slots].transpose(order))
        coupling = coupling.reshape(len(coupled), 3, 3 * self._k)
        if low_rank is not None:
            vectors, core = low_rank
            coupling -= np.tensordot(vectors, core @ vectors[self._nodes.centres].reshape(-1, len(core)).T, axes=1)
        return coupled, coupling


def project_stiffness(blocks: np.ndarray, nodes: ElementNodes, T: np.ndarray) -> np.ndarray:
    """Return the projected stiffness ``T^T K T`` (k,k) for k displacement vectors T (n,3,k).

    K is the sum of element matrices with the ``blocks`` (b,3,3). ``nodes``: vertices of the elements.
    """
    rows, columns = nodes.vertex_pairs
    coupled = np.flatnonzero(blocks.any(axis=(1, 2)))
    total = np.zeros((T.shape[2], T.shape[2]))
    for first in range(0, len(coupled), BLOCKS):
        some = coupled[first : first + BLOCKS]
        # Blocks off the diagonal count twice, as a block and its transpose.
        factor = np.where(rows[some] == columns[some], 0.5, 1.0)[:, None, None]
        part = (factor * blocks[some]) @ T[columns[some]]
        product = np.tensordot(T[rows[some]], part, axes=((0, 1), (0, 1)))
        total += product + product.T
    return total


class ReducedSystem(NamedTuple):
    """Reduced system of a body in a ConJac step, with k unknowns.

    The unknowns are the displacements of the nodes, and the amounts of c rigid motions. Each rigid motion moves a
    connected part of the body, but none of the nodes: for example a rotation about an axis through the part's nodes.

    M is the mass matrix, K the stiffness matrix, and h the step. ``map``: the map J from nodes to vertices. ``T``
    (n,3,k): basis, which consists of J's columns and the rigid motions. ``unresolved_momenta`` (n,3,c): M times the c
    rigid motions. ``mass`` (k,k), kg: ``T^T M T``. ``stiffness`` (k,k), kg: ``h² T^T K T``. ``elastic`` (k,k), kg:
    elastic part of ``stiffness``. ``tangent``: elastic tangent in K.
    """

    map: ConJacMap
    T: np.ndarray
    unresolved_momenta: np.ndarray
    mass: np.ndarray
    stiffness: np.ndarray
    elastic: np.ndarray
    tangent: Tangent

    def newton_step(self, map_: ConJacMap, gradient: np.ndarray) -> np.ndarray:
        """Return the Newton step (n,3) m of the quasistatic vertices. The nodes and the rigid motions are held fixed.

        ``map_``: map from the nodes to the vertices, which may be newer than the map of the reduced system.
        ``gradient`` (n,3), kg m: gradient of the incremental potential.
        """
        first = map_.J.shape[2]
        unresolved, momenta = self.T[:, :, first:], self.unresolved_momenta
        dx = map_.newton_step(gradient - momenta @ project_vector(unresolved, gradient))
        return dx - unresolved @ project_vector(momenta, dx)

    def speeds(self, momenta: np.ndarray) -> np.ndarray:
        """Return the speeds (k,) of the reduced unknowns that approximate vertex velocities best.

        The approximation is best in the mass norm. ``momenta`` (n,3): mass matrix times the velocities.
        """
        if not self.mass.size:
            return np.zeros(0)
        return scipy.linalg.solve(self.mass, project_vector(self.T, momenta), assume_a="pos")

    def columns_of(self, rows: slice) -> np.ndarray:
        """Return the indices of the reduced unknowns that move the body with the vertices ``rows``."""
        return np.flatnonzero(np.abs(self.T[rows]).max(axis=(0, 1)) > 0.5 * np.abs(self.T).max(axis=(0, 1)))


def project_vector(T: np.ndarray, forces: np.ndarray) -> np.ndarray:
    """Return the generalized forces ``T^T f`` (k,) for forces f (n,3) and k displacement vectors T (n,3,k)."""
    return np.tensordot(T, forces, axes=((0, 1), (0, 1)))


def project_mass(mass: sp.csr_matrix, T: np.ndarray) -> np.ndarray:
    """Return the projected mass ``T^T M T`` (k,k) for k displacement vectors T (n,3,k).

    The product is computed for ``ROWS`` vertices at a time, since M T would need as much memory as T.
    """
    n, _, k = T.shape
    flat, columns, total = T.reshape(n, 3 * k), T.reshape(3 * n, k), np.zeros((k, k))
    for first in range(0, n, ROWS):
        last = min(first + ROWS, n)
        weighed = (mass[first:last] @ flat).reshape(3 * (last - first), k)
        total += columns[3 * first : 3 * last].T @ weighed
    return total
