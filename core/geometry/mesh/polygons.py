"""Triangulation of faces with any number of corners."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...foundation.errors import MeshError


def triangulate(positions: np.ndarray, counts: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Split faces into triangles, and return their vertex indices, (t,3).

    The triangles keep the order and orientation of the faces. A face with fewer than three corners gives no triangle. A
    face becomes a fan around its first corner. If a triangle of the fan would be flipped and lie outside, the face is
    split by ear clipping instead [Meisters 1975, Polygons have ears]. Raises MeshError if a face refers to a missing
    vertex.

    Parameters
    ----------
    positions : (n,3) positions of the vertices
    counts : (f,) number of corners of each face
    corners : vertex indices of the corners of all faces, one face after another
    """
    if len(corners) and (corners.min() < 0 or corners.max() >= len(positions)):
        raise MeshError("A face refers to a vertex that does not exist.", "Number vertices from 0 in the faces.")
    many, starts = np.maximum(counts - 2, 0), np.cumsum(counts) - counts
    face = np.repeat(np.arange(len(counts)), many)
    step = np.arange(len(face)) - np.repeat(np.cumsum(many) - many, many)
    triangles = corners[starts[face][:, None] + np.column_stack([np.zeros_like(step), step + 1, step + 2])]
    a, b, c = (positions[triangles[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    whole = np.column_stack([np.bincount(face, normal, minlength=len(counts)) for normal in normals.T])
    for each in np.unique(face[np.einsum("ti,ti->t", normals, whole[face]) < 0.0]):
        around = corners[starts[each] : starts[each] + counts[each]]
        triangles[face == each] = around[_ears(positions[around], whole[each])]
    return triangles


def _ears(X: np.ndarray, normal: np.ndarray) -> list[list[int]]:
    """Split a face with corners X (n,3) into triangles by ear clipping."""
    axis = int(np.abs(normal).argmax())
    # An even permutation of the axes preserves orientation.
    P = X[:, [(axis + 1) % 3, (axis + 2) % 3]] * np.array([np.sign(normal[axis]) or 1.0, 1.0])
    left, ears = list(range(len(X))), []
    while len(left) > 3:
        k = next((k for k in range(len(left)) if _is_ear(P, left, k)), 0)
        ears.append([left[k - 1], left[k], left[(k + 1) % len(left)]])
        del left[k]
    return [*ears, left]


def _is_ear(P: np.ndarray, left: Sequence[int], k: int) -> bool:
    """Return True if corner ``left[k]`` of a polygon is an ear: convex, and with no other corner in its triangle."""
    tip = [left[k - 1], left[k], left[(k + 1) % len(left)]]
    others = P[[i for i in left if i not in tip]]
    turns = [_turn(P[tip[i]], P[tip[(i + 1) % 3]], others) for i in range(3)]
    bulges = _turn(P[tip[0]], P[tip[1]], P[tip[2]][None])[0] > 0.0
    return bool(bulges and not np.all([turn >= 0.0 for turn in turns], axis=0).any())


def _turn(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Return twice the signed areas (m,) of the triangles with corners a, b and each row of c (m,2)."""
    return (b[0] - a[0]) * (c[:, 1] - a[1]) - (b[1] - a[1]) * (c[:, 0] - a[0])
