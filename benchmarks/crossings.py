"""Intersections of surfaces, independent of contact code: every edge against every face, segment by triangle."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from ..core.contact.barrier.collision_mesh import CollisionMesh

CHUNK = 4096
"""Number of edges compared with nearby faces at once."""
NOISE = 16.0 * np.finfo(float).eps
"""Relative round-off of coordinates: edges in a face's plane do not intersect it."""


def crossings(points: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Return intersecting edges and faces without common vertex, (k,3): two vertices and a face; points (s,3)."""
    corners = faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    edges = np.unique(np.sort(corners, axis=1), axis=0)
    middles = points[faces].mean(axis=1)
    radii = np.linalg.norm(points[faces] - middles[:, None], axis=2).max(axis=1)
    # Grouped by size, since one large face would make all faces near to all edges.
    sizes = np.ceil(np.log2(np.maximum(radii, np.finfo(float).tiny)))
    found = [np.zeros((0, 3), dtype=int)]
    for size in np.unique(sizes):
        of_size = np.flatnonzero(sizes == size)
        near_faces, reach = cKDTree(middles[of_size]), (1.0 + 1e-9) * radii[of_size].max()
        for first in range(0, len(edges), CHUNK):
            found.append(_crossing(points, edges[first : first + CHUNK], faces, of_size, near_faces, reach))
    return np.concatenate(found)


def forbidden(points: np.ndarray, surfaces: CollisionMesh) -> np.ndarray:
    """Return intersections (:func:`crossings`) of surfaces at (s,3) that a barrier forbids: of two bodies, or of one
    with self-contact.
    """
    found = crossings(points, surfaces.faces)
    one, other = surfaces.body_ids[found[:, 0]], surfaces.body_ids[surfaces.faces[found[:, 2], 0]]
    return found[(one != other) | np.isin(one, surfaces.self_contact_bodies)]


def _crossing(
    points: np.ndarray, edges: np.ndarray, faces: np.ndarray, chosen: np.ndarray, near_faces: cKDTree, reach: float
) -> np.ndarray:
    """Return intersecting edges and chosen faces, (k,3), by a tree of the faces' middles and their largest radius."""
    ends = points[edges]
    half = 0.5 * np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1)
    lists = near_faces.query_ball_point(ends.mean(axis=1), half + reach)
    e, f = np.repeat(np.arange(len(edges)), [len(each) for each in lists]), np.concatenate(lists).astype(int)
    f = chosen[f]
    corners = points[faces[f]]
    near = (ends[e].min(axis=1) <= corners.max(axis=1)).all(axis=1)
    near &= (ends[e].max(axis=1) >= corners.min(axis=1)).all(axis=1)
    e, f = e[near], f[near]
    apart = (faces[f][:, :, None] != edges[e][:, None, :]).all(axis=(1, 2))
    e, f = e[apart], f[apart]
    through = _pierces(ends[e], points[faces[f]])
    return np.column_stack([edges[e[through]], f[through]])


def _pierces(segments: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Return True for segments (k,2,3) that pass through triangles (k,3,3): signs of volumes beyond round-off."""
    a, b = segments[:, 0], segments[:, 1]
    p, q, r = triangles.transpose(1, 0, 2)
    longest = max(float(np.abs(each - a).max(initial=0.0)) for each in (b, p, q, r))
    noise = NOISE * float(np.abs(segments).max(initial=0.0)) * longest**2

    def volume(u: np.ndarray, v: np.ndarray, w: np.ndarray, z: np.ndarray) -> np.ndarray:
        found = np.einsum("ki,ki->k", np.cross(v - u, w - u), z - u)
        return np.where(np.abs(found) > noise, found, 0.0)

    splits = volume(p, q, r, a) * volume(p, q, r, b) < 0.0
    sides = np.stack([volume(a, b, p, q), volume(a, b, q, r), volume(a, b, r, p)])
    return splits & ((sides > 0.0).all(axis=0) | (sides < 0.0).all(axis=0))
