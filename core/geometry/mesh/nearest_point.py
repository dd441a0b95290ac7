"""Search for the closest point of a surface to each of many points."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...foundation.kernels.jit import parallel_kernel
from .bounding_tree import build_tree, element_boxes
from .closest_point import nearest_from
from .vertex_normals import face_normals


class NearestPoints(NamedTuple):
    """Closest points on a surface.

    Attributes
    ----------
    points : (p,3), m
    normals : (p,3), unit normals of the triangles at these points; 0 for a triangle without area
    triangles : (p,), indices of these triangles
    weights : (p,3), barycentric coordinates of the points in these triangles
    """

    points: np.ndarray
    normals: np.ndarray
    triangles: np.ndarray
    weights: np.ndarray


class NearestPointSearch:
    """Search structure for the closest points on a surface.

    ``positions`` (k,3), m: of the vertices.
    ``triangles`` (t,3), at least one: vertex indices.
    """

    def __init__(self, positions: np.ndarray, triangles: np.ndarray) -> None:
        self._corners = np.ascontiguousarray(positions[triangles], dtype=np.float64)
        self._tree = build_tree(*element_boxes(self._corners))
        self._normals = face_normals(self._corners)

    def nearest(self, points: np.ndarray) -> NearestPoints:
        """Return the closest surface points to ``points`` (p,3), m.

        Of several equally near triangles, the one with the lowest index counts.
        """
        points = np.ascontiguousarray(points, dtype=np.float64)
        nearest, triangle = np.empty_like(points), np.empty(len(points), dtype=np.int64)
        weights = np.empty_like(points)
        _nearest(len(points), points, self._corners, self._tree, nearest, triangle, weights)
        return NearestPoints(nearest, self._normals[triangle], triangle, weights)


@parallel_kernel
def _nearest(first, last, points, corners, tree, nearest, triangle, weights):
    w, last_one = np.zeros(3), 0
    for p in range(first, last):
        last_one, _d2 = nearest_from(last_one, points[p], corners, tree, w)
        triangle[p] = last_one
        for i in range(3):
            weights[p, i] = w[i]
            nearest[p, i] = 0.0
            for k in range(3):
                nearest[p, i] += w[k] * corners[triangle[p], k, i]
