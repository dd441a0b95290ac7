"""Search for the closest point of a surface to each of many points."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...foundation.kernels.jit import parallel_kernel
from .bounding_tree import build_tree, element_boxes
from .closest_point import nearest_from
from .vertex_normals import face_normals


class NearestPoints(NamedTuple):
    """Closest ``points`` (p,3) m on a surface, and the indices of the ``triangles`` (p,) on which they lie.

    ``normals`` (p,3) are the unit normals of these triangles, 0 for a triangle without area. ``weights`` (p,3) are the
    barycentric coordinates of the closest points in these triangles.
    """

    points: np.ndarray
    normals: np.ndarray
    triangles: np.ndarray
    weights: np.ndarray


class NearestPointSearch:
    """Search structure for the closest points on the surface of ``triangles`` (t,3), t >= 1, with vertices at
    ``positions`` (k,3) m.
    """

    def __init__(self, positions: np.ndarray, triangles: np.ndarray) -> None:
        self._corners = np.ascontiguousarray(positions[triangles], dtype=np.float64)
        self._tree = build_tree(*element_boxes(self._corners))
        self._normals = face_normals(self._corners)

    def nearest(self, points: np.ndarray) -> NearestPoints:
        """Return the closest surface points to ``points`` (p,3), m. If several triangles are equally near, the closest
        point lies on the triangle with the lowest index.
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
