"""Depth of points below a surface: their distance from its closest triangle, negative outside."""

from __future__ import annotations

import numpy as np

from .bounding_tree import build_tree, element_boxes
from .closest_point import distances
from .surface_mesh import SurfaceMesh
from .winding_number import WindingNumber


class SurfaceDepth:
    """Search structure for the depths of points below a surface.

    The winding number decides on the inside, so openings are closed smoothly. The depth is the distance from the
    closest triangle, also if it belongs to a surface within the body, such as an eye in a head.

    Parameters
    ----------
    surface : SurfaceMesh
        Surface with at least one triangle.
    """

    def __init__(self, surface: SurfaceMesh) -> None:
        # Move the surface to the origin, where coordinates have the least round-off.
        self._origin = surface.positions[surface.triangles].mean(axis=(0, 1))
        positions = surface.positions - self._origin
        self._corners = np.ascontiguousarray(positions[surface.triangles])
        self._tree = build_tree(*element_boxes(self._corners))
        self._winding = WindingNumber(positions, surface.triangles)

    def at(self, points: np.ndarray) -> np.ndarray:
        """Return the depths (n,) float64 of ``points`` (n,3), negative outside.

        The unit is that of the surface.
        """
        points = np.ascontiguousarray(points - self._origin, dtype=np.float64)
        away = np.empty(len(points))
        distances(len(points), points, self._corners, self._tree, away)
        return np.where(self._winding.contains(points), away, -away)
