"""Whether surfaces cross, by nobody's contact: every edge against every face, segment by triangle."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

CHUNK = 4096
"""Edges that are compared with the faces near them at once."""
NOISE = 16.0 * np.finfo(float).eps
"""Part of a coordinate that is round-off: edges that lie in a face's plane do not pierce it."""


def crossings(points: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Edges and faces that cross and share no vertex, (k,3): two vertices and a face's number; of points (s,3)."""
    corners = faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    edges = np.unique(np.sort(corners, axis=1), axis=0)
    low, high = points[faces].min(axis=1), points[faces].max(axis=1)
    middles = points[faces].mean(axis=1)
    near_faces = cKDTree(middles)
    reach = float(np.linalg.norm(points[faces] - middles[:, None], axis=2).max())
    found = []
    for first in range(0, len(edges), CHUNK):
        some = edges[first : first + CHUNK]
        ends = points[some]
        half = 0.5 * np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1)
        lists = near_faces.query_ball_point(ends.mean(axis=1), half + (1.0 + 1e-9) * reach)
        e, f = np.repeat(np.arange(len(some)), [len(each) for each in lists]), np.concatenate(lists).astype(int)
        lowest, highest = ends.min(axis=1), ends.max(axis=1)
        near = (lowest[e] <= high[f]).all(axis=1) & (highest[e] >= low[f]).all(axis=1)
        e, f = e[near], f[near]
        apart = (faces[f][:, :, None] != some[e][:, None, :]).all(axis=(1, 2))
        e, f = e[apart], f[apart]
        through = _pierces(ends[e], points[faces[f]])
        found.append(np.column_stack([some[e[through]], f[through]]))
    return np.concatenate(found)


def _pierces(segments: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Whether segments (k,2,3) pass through triangles (k,3,3): by the signs of volumes over round-off."""
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
