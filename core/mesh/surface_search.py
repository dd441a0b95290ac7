"""The place of a surface that is nearest to each of many points."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..jit import parallel_kernel
from .bounding_tree import build_tree, element_boxes
from .closest_point import nearest_from
from .vertex_normals import face_normals


class NearestPlaces(NamedTuple):
    """``points`` (p,3) m of the surface; ``normals`` (p,3) unit of their ``triangles`` (p,), 0 for one without area;
    ``weights`` (p,3) of the triangles' corners, which sum to 1.
    """

    points: np.ndarray
    normals: np.ndarray
    triangles: np.ndarray
    weights: np.ndarray


class SurfaceSearch:
    """Triangles (t,3), at least one, over vertices (k,3) m, ready to be searched."""

    def __init__(self, positions: np.ndarray, triangles: np.ndarray) -> None:
        self._corners = np.ascontiguousarray(positions[triangles], dtype=np.float64)
        self._tree = build_tree(*element_boxes(self._corners))
        self._normals = face_normals(self._corners)

    def nearest(self, points: np.ndarray) -> NearestPlaces:
        """The places nearest to points (p,3); of equally near triangles the lowest index wins."""
        points = np.ascontiguousarray(points, dtype=np.float64)
        places, triangle = np.empty_like(points), np.empty(len(points), dtype=np.int64)
        weights = np.empty_like(points)
        _nearest(len(points), points, self._corners, self._tree, places, triangle, weights)
        return NearestPlaces(places, self._normals[triangle], triangle, weights)


@parallel_kernel
def _nearest(first, last, points, corners, tree, places, triangle, weights):
    w, last_one = np.zeros(3), 0
    for p in range(first, last):
        last_one, _d2 = nearest_from(last_one, points[p], corners, tree, w)
        triangle[p] = last_one
        for i in range(3):
            weights[p, i] = w[i]
            places[p, i] = 0.0
            for k in range(3):
                places[p, i] += w[k] * corners[triangle[p], k, i]
