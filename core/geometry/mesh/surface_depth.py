"""Depth of points below a surface: their distance from its closest triangle, negative outside."""

from __future__ import annotations

import numpy as np

from .bounding_tree import build_tree, element_boxes
from .closest_point import distances
from .surface_mesh import SurfaceMesh
from .winding_number import WindingNumber


class SurfaceDepth:
    """Depths below one surface; build once, evaluate often.

    The winding number decides inside and outside, so openings are closed smoothly. Surfaces inside a body, such as eyes
    in a head, count like its outside.

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
        self._tree = build_tree(*element_boxes(self._corners))
        self._winding = WindingNumber(positions, surface.triangles)

    def at(self, points: np.ndarray) -> np.ndarray:
        """Return the depth of each of ``points`` (n,3), (n,) float64, in their unit; negative outside."""
        points = np.ascontiguousarray(points - self._origin, dtype=np.float64)
        away = np.empty(len(points))
        distances(len(points), points, self._corners, self._tree, away)
        return np.where(self._winding.contains(points), away, -away)
