"""Vertex pairs of a body that touches or intersects itself at rest: contact excludes them.

A barrier is undefined at intersections, and pushes apart pairs that are closer than dhat. Both are excluded for good,
with all pairs within ``SEARCH_RADIUS`` around: faces beside an intersection block each other once anything moves.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from ...geometry.mesh.bounding_tree import element_boxes
from ...geometry.tetrahedra.intersections import intersecting_triangles
from .barrier_potential import Barrier
from .collision_mesh import NO_PAIRS, CollisionMesh

SEARCH_RADIUS = 2.0
"""Radius of the surroundings, in median edges at rest."""


def initially_touching_pairs(surfaces: CollisionMesh, body: int, distance: float, positions: np.ndarray) -> np.ndarray:
    """Return vertex pairs (k,2) of one body that are near each other where it touches itself, closer than ``distance``
    m, or intersects itself, with all surfaces at ``positions`` (s,3) m: at rest, or at the beginning.
    """
    chosen = surfaces.body_ids == body
    own = (
        surfaces._replace(self_contact_bodies=(body,))
        .of_vertices(chosen)
        ._replace(is_prescribed=np.zeros(chosen.sum(), dtype=bool))
    )
    y, numbers = positions[chosen], np.flatnonzero(chosen)
    edges = own.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    reach = SEARCH_RADIUS * float(
        np.median(np.linalg.norm(own.rest_positions[edges[:, 0]] - own.rest_positions[edges[:, 1]], axis=1))
    )
    touching = Barrier(own, distance, 1.0, 0.0, 1.0).collision_stencils(y)[0]
    crossing = _crossing_faces(y, own.faces)
    pairs = np.concatenate([_vertex_pairs(touching), _vertex_pairs(crossing)])
    if not len(pairs):
        return NO_PAIRS
    around = cKDTree(y).query_ball_point(y[np.unique(pairs)], reach)
    around = np.unique(np.concatenate(around)).astype(np.int64)
    near = around[cKDTree(y[around]).query_pairs(reach, output_type="ndarray")]
    return numbers[np.unique(np.sort(np.concatenate([pairs, near]), axis=1), axis=0)]


def _crossing_faces(y: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Return the corners (k,6) of intersecting faces, paired with each intersecting face whose box overlaps theirs."""
    crossing = faces[intersecting_triangles(y, faces)].astype(np.int64)
    if not len(crossing):
        return np.zeros((0, 6), dtype=np.int64)
    low, high = element_boxes(y[crossing])
    found = []
    for k in range(len(crossing)):
        met = np.flatnonzero(((low <= high[k]) & (high >= low[k])).all(axis=1))
        found.append(np.column_stack([np.tile(crossing[k], (len(met), 1)), crossing[met]]))
    return np.concatenate(found)


def _vertex_pairs(vertices: np.ndarray) -> np.ndarray:
    """Return all pairs of different vertices in rows (k,c), without negative entries."""
    first, second = np.triu_indices(vertices.shape[1], 1)
    pairs = np.stack([vertices[:, first], vertices[:, second]], axis=2).reshape(-1, 2)
    return pairs[(pairs >= 0).all(axis=1) & (pairs[:, 0] != pairs[:, 1])]
