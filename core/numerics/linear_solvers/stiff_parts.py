"""Groups of vertices that are likely to move together: connected parts of like stiffness, and pieces of large parts.

Conjugate gradients lose most of their time on displacements of almost no energy that the preconditioner takes for
expensive: above all rotations of a stiff part inside a soft body. Each group adds its affine displacements to the
deflation.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

JUMP = 0.5
"""Decades of stiffness between two neighbours in the sorted list that separate materials."""

BAND = 1.5
"""Decades that one group's stiffness may span where it changes without a jump."""

MOST_PARTS = 24
"""Connected parts with a group of their own; smaller ones share one."""

PIECES = 16
"""A part with more than 1 / PIECES of the vertices is halved until no piece has more."""


def vertex_groups(rest_positions: np.ndarray, tets: np.ndarray, stiffness: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Return the group of each free vertex, (f,) int64, counted from 0.

    Parameters
    ----------
    rest_positions : (n,3), tets : (m,4)
    stiffness : (m,) Pa
        Positive.
    free : (f,) vertices that are not pinned
    """
    bands = stiffness_bands(stiffness)
    parts = _largest(_connected(tets, bands, len(rest_positions))[free])
    groups = np.empty(len(free), dtype=np.int64)
    count = 0
    for part in range(int(parts.max(initial=-1)) + 1):
        for piece in _halved(np.flatnonzero(parts == part), rest_positions[free], max(len(free) // PIECES, 8)):
            groups[piece] = count
            count += 1
    return groups


def stiffness_bands(stiffness: np.ndarray) -> np.ndarray:
    """Return the number of each tet's band of similar stiffness, (m,) int64, from the softest. Bands are split at
    jumps, and where one would be too wide.
    """
    decades = np.log10(stiffness)
    levels = np.unique(decades)
    cluster = np.concatenate([[0], np.cumsum(np.diff(levels) > JUMP)])
    bands = np.empty(len(levels), dtype=np.int64)
    count = 0
    for k in range(int(cluster[-1]) + 1):
        members = levels[cluster == k]
        slices = max(int(np.ceil((members[-1] - members[0]) / BAND)), 1)
        part = (members - members[0]) / max(members[-1] - members[0], JUMP) * slices
        bands[cluster == k] = count + np.minimum(part.astype(np.int64), slices - 1)
        count += slices
    return bands[np.searchsorted(levels, decades)]


def _connected(tets: np.ndarray, bands: np.ndarray, n: int) -> np.ndarray:
    """Return the part of each vertex, (n,): vertices belong to their stiffest tet, and such tets connect them."""
    of_vertex = np.full(n, -1, dtype=np.int64)
    np.maximum.at(of_vertex, tets.ravel(), np.repeat(bands, 4))
    own = of_vertex[tets] == bands[:, None]
    # Edges from one corner of the tet's own band to all others of it.
    anchor = np.repeat(tets[np.arange(len(tets)), np.argmax(own, axis=1)], 4)[own.ravel()]
    others = tets.ravel()[own.ravel()]
    graph = sp.coo_matrix((np.ones(len(others), dtype=np.int8), (anchor, others)), shape=(n, n))
    return connected_components(graph, directed=False)[1]


def _largest(parts: np.ndarray) -> np.ndarray:
    """Renumber parts by falling size; the small ones beyond ``MOST_PARTS`` share one number."""
    _names, inverse, sizes = np.unique(parts, return_inverse=True, return_counts=True)
    rank = np.empty(len(sizes), dtype=np.int64)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
    return np.minimum(rank, MOST_PARTS)[inverse.ravel()]


def _halved(members: np.ndarray, positions: np.ndarray, most: int) -> list[np.ndarray]:
    """Return pieces of at most ``most`` members, by recursive halving across the longest side."""
    if len(members) <= most:
        return [members]
    points = positions[members]
    axis = int(np.argmax(np.ptp(points, axis=0)))
    order = np.argsort(points[:, axis], kind="stable")
    half = len(members) // 2
    return [
        piece for part in (order[:half], order[half:]) for piece in _halved(np.sort(members[part]), positions, most)
    ]
