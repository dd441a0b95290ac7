"""Marching tetrahedra on a mesh of tets that are each cut into eight."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...geometry.mesh.topology import FACES

EDGES = np.array([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])
_BETWEEN = np.array([[0, 4, 5, 6], [4, 1, 7, 8], [5, 7, 2, 9], [6, 8, 9, 3]])
"""Nodes of the four corner tets into which a tet is cut.

Nodes 0 to 3 are the tet's corners, 4 + k is the midpoint of edge k.
"""
_RINGS = np.array([(4, 9, 5, 6, 8, 7), (5, 8, 4, 7, 9, 6), (6, 7, 4, 5, 9, 8)])
"""Diagonals of the octahedron that remains when the four corner tets are cut off a tet.

Each row holds the two end nodes of a diagonal, then the four nodes around the diagonal, oriented like the tet.
"""
_PAIRS = np.array([(0, 1, 2, 3), (0, 2, 3, 1), (0, 3, 1, 2), (1, 2, 0, 3), (1, 3, 2, 0), (2, 3, 0, 1)])
"""Permutations of a tet's corners that keep its orientation. Each begins with another pair of corners."""


class CutEdges(NamedTuple):
    """Vertices and faces of a level set, with one vertex per cut edge.

    Attributes
    ----------
    ends : (s,2) int64
        Nodes of each cut edge, the inside node first.
    triangles : (t,3) int64
        Indices of cut edges, oriented outwards.
    quads : (q,4) int64
        Indices of cut edges, oriented outwards; quads are not planar in general.
    """

    ends: np.ndarray
    triangles: np.ndarray
    quads: np.ndarray


def halved_edges(tets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the unique edges of tets, (e,2), and the edges of each tet, (m,6).

    The second array holds indices into the first, in the order of ``EDGES``.

    ``tets`` (m,4): vertex indices.
    """
    pairs = np.sort(tets[:, EDGES], axis=2).astype(np.int64)
    n = int(tets.max()) + 1
    keys, edges = np.unique(pairs[..., 0] * n + pairs[..., 1], return_inverse=True)
    return np.column_stack([keys // n, keys % n]), edges.reshape(-1, 6)


def parts_of_eight(tets: np.ndarray, middles: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return tets (8m,4): each tet cut into eight at its edge midpoints.

    The octahedron in the middle is cut along its shortest diagonal.

    ``tets`` (m,4): node indices of the corners.
    ``middles`` (m,6): node indices of the edge midpoints.
    ``points`` (p,3): positions of all nodes.
    """
    nodes = np.concatenate([tets, middles], axis=1)
    tips = nodes[:, _BETWEEN]
    across = points[nodes[:, _RINGS[:, 0]]] - points[nodes[:, _RINGS[:, 1]]]
    ring = np.take_along_axis(nodes, _RINGS[(across**2).sum(axis=2).argmin(axis=1)], axis=1)
    inner = np.stack([ring[:, [0, 1, 2 + k, 2 + (k + 1) % 4]] for k in range(4)], axis=1)
    return np.concatenate([tips, inner], axis=1).reshape(-1, 4)


def cut_edges(tets: np.ndarray, inside: np.ndarray) -> CutEdges:
    """Return the cut edges and faces of a level set.

    The level set separates the inside nodes from the other nodes.

    ``tets`` (m,4): node indices, in positive orientation.
    ``inside`` (p,) bool: mask of the inside nodes.
    """
    within = inside[tets]
    count = within.sum(axis=1)
    triangles = []
    for number in (1, 3):
        some = np.flatnonzero(count == number)
        alone = np.argmax(within[some] == (number == 1), axis=1)
        others = np.take_along_axis(tets[some], FACES[alone], axis=1)
        tip = np.repeat(tets[some, alone][:, None], 3, axis=1)
        triangles.append(np.stack([tip, others] if number == 1 else [others[:, ::-1], tip], axis=2))
    some = np.flatnonzero(count == 2)
    first = np.argsort(~within[some], axis=1, kind="stable")[:, :2]
    which = np.array([[0, 0, 1, 2], [0, 0, 3, 4], [0, 0, 0, 5]])[first[:, 0], first[:, 1]]
    a, b, c, d = np.take_along_axis(tets[some], _PAIRS[which], axis=1).T
    quads = np.stack([np.stack([a, a, b, b], axis=1), np.stack([c, d, d, c], axis=1)], axis=2)
    pairs = np.concatenate([*(each.reshape(-1, 2) for each in triangles), quads.reshape(-1, 2)]).astype(np.int64)
    keys, vertex = np.unique(pairs[:, 0] * len(inside) + pairs[:, 1], return_inverse=True)
    quads_from = len(vertex) - 4 * len(quads)
    ends = np.column_stack([keys // len(inside), keys % len(inside)])
    return CutEdges(ends, vertex[:quads_from].reshape(-1, 3), vertex[quads_from:].reshape(-1, 4))
