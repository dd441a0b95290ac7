"""Proposal of dynamic nodes for a body: the vertices whose motion the ConJac solvers integrate in time.

The rest of the body follows the dynamic nodes quasistatically. The proposed nodes are a few vertices, far from one
another and from the pins. Most of them are in soft regions, which move most.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

STIFF = 100.0
"""Vertices at least this many times as stiff as the softest vertex form stiff parts."""
MILD = 0.25
"""Exponent of the softness (inverse of Young's modulus). The choice of nodes multiplies distances by ``softness^MILD``.
So in a part ten times as soft, distances are 1.8 times as long.
"""


def propose_nodes(
    positions: np.ndarray,
    softness: np.ndarray,
    pinned: np.ndarray,
    count: int,
    part: np.ndarray | None = None,
    mirror: np.ndarray | None = None,
) -> np.ndarray:
    """Choose up to ``count`` vertices of a body as dynamic nodes.

    Dynamic nodes are the vertices whose motion the solver ConJac integrates in time. The rest of the body follows
    quasistatically. The choice is a farthest-point sampling [Gonzalez 1985] with distances scaled by a power of the
    softness. First each stiff part without pins gets a node. Then the soft regions get the remaining nodes.

    The result (k,) int32 has the indices of the vertices in the order of choice.

    Parameters
    ----------
    positions : (n,3) m
    softness : (n,) float64
        Inverse of Young's modulus, in any unit; 0 at vertices that cannot be nodes.
    pinned : (p,) vertices
        Pinned vertices cannot be nodes, and nodes are chosen far from them. A stiff part with a pin gets no node.
    part : (n,) int, optional
        Label of the stiff part that a vertex belongs to, -1 elsewhere (:func:`stiff_parts`).
    mirror : (n,) int, optional
        Index of each vertex's mirror vertex across a plane of symmetry. A vertex on the plane is its own mirror vertex.
        The entry is -1 for a vertex without a mirror vertex. If ``mirror`` is given, vertices in soft regions are
        chosen together with their mirror vertices. A last single node is then a vertex on the plane or without a mirror
        vertex. If there is no such vertex, the last node is omitted.
    """
    chosen = _Chosen(positions, softness, pinned, count, mirror)
    part = np.full(len(positions), -1) if part is None else part
    names, sizes = np.unique(part[part >= 0], return_counts=True)
    for name in names[np.argsort(-sizes, kind="stable")]:
        chosen.add_in_part(part == name, part)
    partner, soft = chosen.partner, part < 0
    while chosen.add(np.flatnonzero(soft & soft[partner])):
        pass
    return np.array(chosen.nodes, dtype=np.int32)


def stiff_parts(triangles: np.ndarray, softness: np.ndarray) -> np.ndarray:
    """Return the label of each surface vertex's stiff part, (n,), from 0; -1 outside stiff parts.

    A stiff part is a connected region of vertices at least ``STIFF`` times as stiff as the softest vertex. ``softness``
    (n,): inverse of Young's modulus. Vertices of softness 0 belong to no part.
    """
    stiff = (softness > 0.0) & (softness * STIFF <= softness.max(initial=0.0))
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    i, j = edges[stiff[edges].all(axis=1)].T
    n = len(softness)
    labels = connected_components(sp.coo_matrix((np.ones(len(i), dtype=np.int8), (i, j)), shape=(n, n)))[1]
    part = np.full(n, -1)
    part[stiff] = np.unique(labels[stiff], return_inverse=True)[1].ravel()
    return part


class _Chosen:
    """State of the choice of nodes: the nodes so far, and the distance of each vertex to the nearest node or pin."""

    def __init__(
        self,
        positions: np.ndarray,
        softness: np.ndarray,
        pinned: np.ndarray,
        count: int,
        mirror: np.ndarray | None,
    ) -> None:
        n = len(positions)
        own = np.arange(n)
        self.nodes: list[int] = []
        self._positions, self._count = positions, count
        # A vertex without a mirror vertex, or whose mirror vertex has another one, is unpaired.
        partner = own if mirror is None else np.where(mirror >= 0, mirror, own)
        self.partner = np.where(partner[partner] == own, partner, own)
        self._alone = self.partner == own
        self._free = np.ones(n, dtype=bool)
        self._free[np.asarray(pinned, dtype=np.int64)] = False
        self._weight = (softness / softness.max(initial=1e-300)) ** MILD
        # The distance between the two vertices of a pair counts as well.
        across = np.linalg.norm(positions - positions[self.partner], axis=1)
        self._across = np.where(self._alone, np.inf, across)
        held = positions[np.asarray(pinned, dtype=np.int64)]
        self._away = cKDTree(held).query(positions)[0] if len(held) else np.full(n, np.inf)
        self._from_middle = np.linalg.norm(positions - positions.mean(axis=0), axis=1)

    def add(self, vertices: np.ndarray) -> bool:
        """Add the best of ``vertices`` and its mirror vertex as nodes. Return False if none can be a node."""
        room = self._count - len(self.nodes)
        able = self._free & self._free[self.partner] & (self._alone | (room > 1))
        vertex = self._best(vertices[able[vertices]]) if room > 0 else None
        if vertex is not None:
            self._take(vertex, int(self.partner[vertex]))
        return vertex is not None

    def add_in_part(self, inside: np.ndarray, part: np.ndarray) -> None:
        """Add a node and, if possible, the node's mirror vertex in a stiff part that has neither nodes nor pins.

        ``inside`` (n,) bool: vertices of the stiff part. ``part`` (n,): label of each vertex's stiff part, -1
        elsewhere.
        """
        if len(self.nodes) >= self._count or not self._free[inside].all() or inside[self.nodes].any():
            return
        members = np.flatnonzero(inside)
        paired = members[~self._alone[members]]
        crosses = inside[self.partner[paired]].any()
        wanted = members[self._alone[members]] if crosses else paired
        vertex = self._best(wanted if len(wanted) else members)
        if vertex is None:
            return
        opposite = int(self.partner[vertex])
        other = part == part[opposite] if part[opposite] >= 0 else np.zeros(len(part), dtype=bool)
        taken = inside[opposite] or not self._free[opposite] or other[self.nodes].any() or not self._free[other].all()
        self._take(vertex, *([] if taken or len(self.nodes) + 2 > self._count else [opposite]))

    def _best(self, vertices: np.ndarray) -> int | None:
        """Return the vertex with the highest positive score among ``vertices``, or None.

        The score is ``min(a, b) softness^MILD``. Here a is the distance to the nearest node or pin. If there are no
        nodes and pins yet, a is the distance to the centroid. b is the distance to the vertex's own mirror vertex.
        """
        far = self._away if np.isfinite(self._away).all() else self._from_middle
        score = np.minimum(far, self._across)[vertices] * self._weight[vertices]
        return int(vertices[score.argmax()]) if len(score) and score.max() > 0.0 else None

    def _take(self, *vertices: int) -> None:
        for vertex in dict.fromkeys(vertices):
            self.nodes.append(vertex)
            self._away = np.minimum(self._away, np.linalg.norm(self._positions - self._positions[vertex], axis=1))
