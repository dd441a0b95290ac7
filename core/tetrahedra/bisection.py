"""Conforming bisection of tetrahedra: each is halved across its longest edge, with all others around that edge.

A tet may only be halved there if the edge is the longest of all tets around it; where it is not, those are halved
first, at theirs [Rivara 1984, in three dimensions: Plaza, Carey 2000]. Lengths only go up on that way, so it ends.

The cells of the body-centred lattice go through three shapes on the way to a mirror image of half the size, none with
angles under 45 degrees. Their two longest edges are equally long: the first by ``rank`` goes first.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

EDGES = np.array([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])

Wanted = Callable[[np.ndarray], np.ndarray]
"""Corners of tets (m,4,3) to whether each is to be halved, (m,) bool."""


def bisect(
    points: np.ndarray, tets: np.ndarray, wanted: Wanted, preferred: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Halve tets (m,4) over points (n,3) until none is wanted: new points, tets, and which old tet each is part of.

    Of equally long edges of a tet that between two ``preferred`` points (n,) goes first, then the one numbered later;
    new points are never preferred. Coordinates should be such that equal lengths are equal bit by bit.
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
    """Halve what can be halved now of the marked tets, and of those that hinder them."""
    pairs = np.sort(tets[:, EDGES], axis=2).astype(np.int64)
    keys, edges = np.unique(pairs[..., 0] * len(points) + pairs[..., 1], return_inverse=True)
    edges = edges.reshape(-1, 6)
    ends = np.column_stack([keys // len(points), keys % len(points)])
    lengths = ((points[ends[:, 0]] - points[ends[:, 1]]) ** 2).sum(axis=1)
    rank = np.empty(len(keys), dtype=np.int64)
    rank[np.lexsort((preferred[ends].all(axis=1), lengths))] = np.arange(len(keys))
    place = rank[edges].argmax(axis=1)
    longest = edges[np.arange(len(tets)), place]

    split = np.zeros(len(keys), dtype=bool)
    split[longest[marked]] = True
    while True:
        hindering = longest[split[edges].any(axis=1)]
        if split[hindering].all():
            break
        split[hindering] = True
    is_longest = edges == longest[:, None]
    split[edges[~is_longest]] = False  # not yet: a longer edge comes first
    number = np.full(len(keys), -1, dtype=np.int64)
    chosen = np.flatnonzero(split)
    number[chosen] = len(points) + np.arange(len(chosen))

    halved = np.flatnonzero(split[longest])
    first, second = tets[halved], tets[halved].copy()
    rows, corners = np.arange(len(halved)), EDGES[place[halved]]
    first[rows, corners[:, 0]] = second[rows, corners[:, 1]] = number[longest[halved]]
    tets, parents = tets.copy(), np.concatenate([parents, parents[halved]])
    tets[halved] = first
    middles = 0.5 * (points[ends[chosen, 0]] + points[ends[chosen, 1]])
    return np.vstack([points, middles]), np.vstack([tets, second]), parents, len(chosen)
