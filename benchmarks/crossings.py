"""Whether surfaces cross, by nobody's contact: every edge against every face, segment by triangle."""

from __future__ import annotations

import numpy as np

CHUNK = 512
"""Edges whose boxes are compared with those of all faces at once."""


def crossings(points: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Edges and faces that cross and share no vertex, (k,3): two vertices and a face's number; of points (s,3)."""
    corners = faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    edges = np.unique(np.sort(corners, axis=1), axis=0)
    low, high = points[faces].min(axis=1), points[faces].max(axis=1)
    found = []
    for first in range(0, len(edges), CHUNK):
        some = edges[first : first + CHUNK]
        ends = points[some]
        near = (ends.min(axis=1)[:, None] <= high).all(axis=2) & (ends.max(axis=1)[:, None] >= low).all(axis=2)
        e, f = np.nonzero(near)
        apart = (faces[f][:, :, None] != some[e][:, None, :]).all(axis=(1, 2))
        e, f = e[apart], f[apart]
        through = _pierces(ends[e], points[faces[f]])
        found.append(np.column_stack([some[e[through]], f[through]]))
    return np.concatenate(found)


def _pierces(segments: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Whether segments (k,2,3) pass through triangles (k,3,3): by the signs of volumes."""
    a, b = segments[:, 0], segments[:, 1]
    p, q, r = triangles.transpose(1, 0, 2)

    def volume(u: np.ndarray, v: np.ndarray, w: np.ndarray, z: np.ndarray) -> np.ndarray:
        return np.einsum("ki,ki->k", np.cross(v - u, w - u), z - u)

    splits = volume(p, q, r, a) * volume(p, q, r, b) < 0.0
    sides = np.stack([volume(a, b, p, q), volume(a, b, q, r), volume(a, b, r, p)])
    return splits & ((sides > 0.0).all(axis=0) | (sides < 0.0).all(axis=0))
