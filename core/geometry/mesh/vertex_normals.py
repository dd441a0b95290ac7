"""Normals at the vertices of a surface, weighted by the angles of the adjacent faces."""

from __future__ import annotations

import numpy as np


def corner_angles(corners: np.ndarray) -> np.ndarray:
    """Return the interior angles of triangles, (t,3), radians.

    ``corners`` (t,3,3).
    """
    out = np.empty(corners.shape[:2])
    for k in range(3):
        a = corners[:, (k + 1) % 3] - corners[:, k]
        b = corners[:, (k + 2) % 3] - corners[:, k]
        out[:, k] = np.arctan2(np.linalg.norm(np.cross(a, b), axis=1), np.einsum("ti,ti->t", a, b))
    return out


def face_normals(corners: np.ndarray) -> np.ndarray:
    """Return the unit normals of triangles, (t,3).

    The normal is 0 for a triangle without area. ``corners`` (t,3,3).
    """
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(cross, axis=1, keepdims=True)
    return cross / np.where(length > 0.0, length, 1.0)


def vertex_normals(positions: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Return the angle-weighted sums of adjacent unit normals at vertices, (n,3).

    The sums are not normalised. They are 0 at a vertex in no triangle. Due to the weights they do not depend on the
    triangulation of a flat face.

    ``positions`` (n,3): of the vertices.
    ``triangles`` (t,3): vertex indices.
    """
    corners = positions[triangles]
    each = corner_angles(corners)[..., None] * face_normals(corners)[:, None]
    flat = triangles.ravel()
    return np.column_stack([np.bincount(flat, each[..., i].ravel(), minlength=len(positions)) for i in range(3)])
