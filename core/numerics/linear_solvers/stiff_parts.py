"""Groups of vertices for the deflation: connected parts of similar stiffness, and pieces of large parts.

The preconditioner treats some displacements of very low energy as stiff, mainly rotations of a stiff part in a soft
body. Conjugate gradients spend most time on these displacements. Deflation with the affine displacements of the groups
removes them.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

JUMP = 0.5
"""Smallest gap that separates two materials, in decades between successive values of the sorted stiffnesses."""

BAND = 1.5
"""Largest range of stiffness in a group, in decades, where the stiffness changes gradually."""

MOST_PARTS = 24
"""Largest number of connected parts that get groups of their own; all smaller parts share the next group."""

PIECES = 16
"""Large parts of the body are halved until each piece has at most 1/16 of the free vertices. Pieces of 8 vertices or
fewer are not halved.
"""


def vertex_groups(rest_positions: np.ndarray, tets: np.ndarray, stiffness: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Return the deflation group of each free vertex, (f,) int64, by index from 0.

    Parameters
    ----------
    rest_positions : (n,3) m; tets : (m,4)
    stiffness : (m,) Pa, a positive modulus of each tet
    free : (f,) indices of the vertices that are not pinned
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
    """Return the stiffness band of each tet, (m,) int64, by index from the softest.

    Bands end where the sorted values of ``stiffness`` (m,), Pa, jump. Wide bands are split into equal parts on a
    logarithmic scale.
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
    """Return the label (n,) of each vertex's connected part of similar stiffness.

    Each vertex belongs to the stiffest of its tets' ``bands`` (m,). A tet connects its vertices that belong to its
    band.
    """
    of_vertex = np.full(n, -1, dtype=np.int64)
    np.maximum.at(of_vertex, tets.ravel(), np.repeat(bands, 4))
    own = of_vertex[tets] == bands[:, None]
    # Edges from one corner that has the tet's band to all corners that have it.
    anchor = np.repeat(tets[np.arange(len(tets)), np.argmax(own, axis=1)], 4)[own.ravel()]
    others = tets.ravel()[own.ravel()]
    graph = sp.coo_matrix((np.ones(len(others), dtype=np.int8), (anchor, others)), shape=(n, n))
    return connected_components(graph, directed=False)[1]


def _largest(parts: np.ndarray) -> np.ndarray:
    """Return the part labels (f,) by decreasing size of the parts; parts after the ``MOST_PARTS`` largest share one
    label.
    """
    _names, inverse, sizes = np.unique(parts, return_inverse=True, return_counts=True)
    rank = np.empty(len(sizes), dtype=np.int64)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
    return np.minimum(rank, MOST_PARTS)[inverse.ravel()]


def _halved(members: np.ndarray, positions: np.ndarray, most: int) -> list[np.ndarray]:
    """Halve the vertices ``members`` across the longest side until no piece has more than ``most``."""
    if len(members) <= most:
        return [members]
    points = positions[members]
    axis = int(np.argmax(np.ptp(points, axis=0)))
    order = np.argsort(points[:, axis], kind="stable")
    half = len(members) // 2
    return [
        piece for part in (order[:half], order[half:]) for piece in _halved(np.sort(members[part]), positions, most)
    ]
