"""Vertex pairs excluded from self-contact, since a body touches or intersects itself at rest.

A barrier is undefined at intersections, and pushes apart pairs that are closer than dhat. Such pairs, and all pairs
within ``SEARCH_RADIUS`` of them, are excluded permanently. Faces beside an intersection would block each other.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from ...geometry.mesh.bounding_tree import element_boxes
from ...geometry.tetrahedra.intersections import intersecting_triangles
from .barrier_potential import Barrier
from .collision_mesh import NO_PAIRS, CollisionMesh

SEARCH_RADIUS = 2.0
"""Radius around touching vertices in which all vertex pairs are excluded, in median edge lengths at rest."""


def initially_touching_pairs(surfaces: CollisionMesh, body: int, distance: float, positions: np.ndarray) -> np.ndarray:
    """Return the vertex pairs (k,2) to exclude from the self-contact of a body.

    Vertices, edges and faces touch if they intersect or are closer than ``distance``. Two kinds of vertex pairs are
    excluded:

    - pairs of vertices of touching vertices, edges and faces;
    - pairs of vertices that are near each other and near touching ones (within ``SEARCH_RADIUS``).

    ``body``: id of the body.
    ``distance``, m.
    ``positions`` (s,3), m: all surface vertices, at rest or at the first frame.
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
    """Return the six vertex indices (k,6) of each pair of faces that may intersect."""
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
    """Return all pairs (p,2) of different vertex indices in the same row. Negative entries are ignored."""
    first, second = np.triu_indices(vertices.shape[1], 1)
    pairs = np.stack([vertices[:, first], vertices[:, second]], axis=2).reshape(-1, 2)
    return pairs[(pairs >= 0).all(axis=1) & (pairs[:, 0] != pairs[:, 1])]
