"""How deep points lie below a surface: their distance from its closest triangle, negative outside."""

from __future__ import annotations

import numpy as np

from ..jit import parallel_kernel
from .bounding_tree import build_tree
from .closest_point import nearest_triangle
from .surface_mesh import SurfaceMesh
from .winding_number import WindingNumber


class SurfaceDepth:
    """Depths below one surface; build once, evaluate often.

    Inside is where the winding number says so, so openings are closed smoothly. Surfaces inside a body, such as eyes in
    a head, count like its outside.

    Parameters
    ----------
    surface : SurfaceMesh
        With at least one triangle.
    """

    def __init__(self, surface: SurfaceMesh) -> None:
        # Coordinates near the origin keep the digits.
        self._origin = surface.positions[surface.triangles].mean(axis=(0, 1))
        positions = surface.positions - self._origin
        self._corners = np.ascontiguousarray(positions[surface.triangles])
        self._tree = build_tree(self._corners.min(axis=1), self._corners.max(axis=1))
        self._winding = WindingNumber(positions, surface.triangles)

    def at(self, points: np.ndarray) -> np.ndarray:
        """Depth of each of ``points`` (n,3), as (n,) float64, in their unit; negative outside."""
        points = np.ascontiguousarray(points - self._origin, dtype=np.float64)
        distances = np.empty(len(points))
        _distances(len(points), points, self._corners, *self._tree, distances)
        return np.where(self._winding.contains(points), distances, -distances)


@parallel_kernel
def _distances(first, last, points, corners, order, start, end, child, low, high, distances):
    w = np.empty(3)
    for p in range(first, last):
        _triangle, d2 = nearest_triangle(points[p], np.inf, corners, order, start, end, child, low, high, w)
        distances[p] = np.sqrt(d2)
