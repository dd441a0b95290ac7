"""Normals at the vertices of a surface, weighted by the angles of the adjacent faces."""

from __future__ import annotations

import numpy as np


def corner_angles(corners: np.ndarray) -> np.ndarray:
    """Return the interior angles (t,3), radians, of triangles with ``corners`` (t,3,3)."""
    out = np.empty(corners.shape[:2])
    for k in range(3):
        a = corners[:, (k + 1) % 3] - corners[:, k]
        b = corners[:, (k + 2) % 3] - corners[:, k]
        out[:, k] = np.arctan2(np.linalg.norm(np.cross(a, b), axis=1), np.einsum("ti,ti->t", a, b))
    return out


def face_normals(corners: np.ndarray) -> np.ndarray:
    """Return the unit normals (t,3) of triangles with ``corners`` (t,3,3); 0 for a triangle without area."""
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(cross, axis=1, keepdims=True)
    return cross / np.where(length > 0.0, length, 1.0)


def vertex_normals(positions: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Return the normals (n,3) of vertices: unit normals of adjacent ``triangles`` (t,3), weighted by angle and summed.

    They are not normalised, and 0 at a vertex in no triangle. Due to the weights they do not depend on how a flat face
    is triangulated.
    """
    corners = positions[triangles]
    each = corner_angles(corners)[..., None] * face_normals(corners)[:, None]
    flat = triangles.ravel()
    return np.column_stack([np.bincount(flat, each[..., i].ravel(), minlength=len(positions)) for i in range(3)])
