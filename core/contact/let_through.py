"""Where a body touches itself, or crosses itself, at rest: what is near there never meets.

A barrier knows no crossing that is there already, and pushes apart what is closer than it pushes from. Both are let
through for good, with all that is as near around: what lies beside a crossing is in its way as soon as anything moves.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from ..mesh.bounding_tree import element_boxes
from ..tetrahedra.intersections import intersecting_triangles
from .ipc import NO_PAIRS, Barrier, Surfaces

NEAR = 2.0
"""Median edges at rest that are near."""


def let_through(surfaces: Surfaces, body: int, distance: float, places: np.ndarray) -> np.ndarray:
    """Pairs of vertices (k,2) of one of the bodies that are near each other where it touches itself, nearer than
    ``distance`` m, or crosses itself, with its surfaces at (s,3) m: at rest, or where it begins.
    """
    chosen = surfaces.body == body
    own = surfaces._replace(selves=(body,)).of(chosen)._replace(given=np.zeros(chosen.sum(), dtype=bool))
    y, numbers = places[chosen], np.flatnonzero(chosen)
    edges = own.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    reach = NEAR * float(np.median(np.linalg.norm(own.rest[edges[:, 0]] - own.rest[edges[:, 1]], axis=1)))
    touching = Barrier(own, distance, 1.0, 0.0, 1.0).pairs(y)[0]
    crossing = _crossing(y, own.faces)
    pairs = np.concatenate([_each_two(touching), _each_two(crossing)])
    if not len(pairs):
        return NO_PAIRS
    around = cKDTree(y).query_ball_point(y[np.unique(pairs)], reach)
    around = np.unique(np.concatenate(around)).astype(np.int64)
    near = around[cKDTree(y[around]).query_pairs(reach, output_type="ndarray")]
    return numbers[np.unique(np.sort(np.concatenate([pairs, near]), axis=1), axis=0)]


def _crossing(y: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """The corners of faces that cross others, with those of each whose box meets theirs, (k,6)."""
    crossing = faces[intersecting_triangles(y, faces)].astype(np.int64)
    if not len(crossing):
        return np.zeros((0, 6), dtype=np.int64)
    low, high = element_boxes(y[crossing])
    found = []
    for k in range(len(crossing)):
        met = np.flatnonzero(((low <= high[k]) & (high >= low[k])).all(axis=1))
        found.append(np.column_stack([np.tile(crossing[k], (len(met), 1)), crossing[met]]))
    return np.concatenate(found)


def _each_two(vertices: np.ndarray) -> np.ndarray:
    """All pairs of different ones in rows (k,c), of which negative ones are none."""
    first, second = np.triu_indices(vertices.shape[1], 1)
    pairs = np.stack([vertices[:, first], vertices[:, second]], axis=2).reshape(-1, 2)
    return pairs[(pairs >= 0).all(axis=1) & (pairs[:, 0] != pairs[:, 1])]
