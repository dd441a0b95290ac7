"""Conforming longest-edge bisection of tetrahedra: each halved edge is halved in all tets around it.

A tet is halved at its longest edge only if that edge is also the longest edge of all tets around it. Otherwise those
tets are halved first, at their longest edges [Rivara 1984; in three dimensions: Plaza, Carey 2000]. The edge lengths
along such a chain only grow, so it ends.

A tet of the body-centred lattice has two longest edges of equal length. The order of preference in :func:`bisect`
decides between them. The halves of such a tet, the quarters and the eighths have three different shapes. From then on
the shapes repeat at half the size. No dihedral angle is under 45 degrees.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

EDGES = np.array([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])

Wanted = Callable[[np.ndarray], np.ndarray]
"""Function that maps the corners of tets, (m,4,3), to a mask (m,) bool of the tets to halve."""


def bisect(
    points: np.ndarray, tets: np.ndarray, wanted: Wanted, preferred: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Halve tets until a function marks none any more.

    Return the points, the tets, and per returned tet the index of the original tet that contains it. If the longest
    edges of a tet are equally long, an edge between two preferred points is halved first, then the edge with the higher
    pair of vertex indices. New points are not preferred. Edges of equal length must have bitwise equal computed
    lengths.

    ``points`` (n,3), ``tets`` (m,4): the mesh.
    ``wanted``: function that marks the tets to halve.
    ``preferred`` (n,): mask of the preferred points.
    """
    parents = np.arange(len(tets))
    while True:
        marked = wanted(points[tets])
        if not marked.any():
            return points, tets, parents
        points, tets, parents, made = _halve(points, tets, parents, marked, preferred)
        preferred = np.concatenate([preferred, np.zeros(made, dtype=bool)])


def _halve(
    points: np.ndarray, tets: np.ndarray, parents: np.ndarray, marked: np.ndarray, preferred: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Halve each marked tet at its longest edge, unless a tet around the edge has a longer one.

    Return the points, the tets, the index of each tet's original tet, and the number of new points.
    """
    pairs = np.sort(tets[:, EDGES], axis=2).astype(np.int64)
    keys, edges = np.unique(pairs[..., 0] * len(points) + pairs[..., 1], return_inverse=True)
    edges = edges.reshape(-1, 6)
    ends = np.column_stack([keys // len(points), keys % len(points)])
    lengths = ((points[ends[:, 0]] - points[ends[:, 1]]) ** 2).sum(axis=1)
    rank = np.empty(len(keys), dtype=np.int64)
    rank[np.lexsort((preferred[ends].all(axis=1), lengths))] = np.arange(len(keys))
    edge_index = rank[edges].argmax(axis=1)
    longest = edges[np.arange(len(tets)), edge_index]

    split = np.zeros(len(keys), dtype=bool)
    split[longest[marked]] = True
    while True:
        hindering = longest[split[edges].any(axis=1)]
        if split[hindering].all():
            break
        split[hindering] = True
    is_longest = edges == longest[:, None]
    split[edges[~is_longest]] = False  # a tet around such an edge has a longer one, which is halved first
    number = np.full(len(keys), -1, dtype=np.int64)
    chosen = np.flatnonzero(split)
    number[chosen] = len(points) + np.arange(len(chosen))

    halved = np.flatnonzero(split[longest])
    first, second = tets[halved], tets[halved].copy()
    rows, corners = np.arange(len(halved)), EDGES[edge_index[halved]]
    first[rows, corners[:, 0]] = second[rows, corners[:, 1]] = number[longest[halved]]
    tets, parents = tets.copy(), np.concatenate([parents, parents[halved]])
    tets[halved] = first
    middles = 0.5 * (points[ends[chosen, 0]] + points[ends[chosen, 1]])
    return np.vstack([points, middles]), np.vstack([tets, second]), parents, len(chosen)
