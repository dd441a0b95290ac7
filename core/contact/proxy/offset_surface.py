"""Signed distance to a body with thin parts thickened for a collision proxy on the lattice.

The distance is to the closest triangle, negative inside by the generalised winding number. Where a body, measured along
the normal at the closest point, is thinner than ``THICK`` cells, its surface is offset outwards by half of the missing
thickness. A sheet, which has no inside, becomes a plate. Where a body is thicker, its surface is not offset.
"""

from __future__ import annotations

import numpy as np

from ...foundation.kernels.jit import inlined, inner_kernel, parallel_kernel
from ...foundation.kernels.simd_math import dot, minus, moved
from ...geometry.mesh.closest_point import first_hit, nearest_from
from ...geometry.mesh.nearest_point import NearestPointSearch
from ...geometry.mesh.surface_mesh import SurfaceMesh
from ...geometry.mesh.surface_samples import faces_with_area
from ...geometry.mesh.vertex_normals import face_normals
from ...geometry.mesh.winding_number import WindingNumber, winding_at

THICK = 0.55
"""Least thickness of a body, in cells.

It is half a cell, the spacing of the level set's nodes, plus a margin.
"""
REACH = 0.8
"""Largest distance outside the body, in cells, at which the body's thickness is computed.

Nodes farther away belong to no edge that the collision proxy cuts. Inside the body, the thickness is computed only at
depths below half of ``THICK``: at a deeper node, the body is thick enough.
"""
BESIDE = 1e-3
"""Distance, in cells, from a triangle to a test point on each side.

The points are tested for being inside the body.
"""
DRAWN_IN = 0.02
"""Shift of the point at which the thickness is measured, away from edges.

The point is moved from the closest point of the surface towards the centroid of the triangle there, by this fraction of
the distance to the centroid.
"""
OPPOSITE = -(0.5**0.5)
"""Negative of the least absolute cosine between the normals of two faces of a thin part: cos 45°.

If the absolute cosine is smaller, the two faces are taken as the sides of a sharp edge.
"""


class OffsetSurface:
    """Distance queries on a surface.

    Coordinates are in metres. Internally they are relative to ``origin`` (3,), the surface's centre, to reduce
    round-off. Faces without area are ignored.
    """

    def __init__(self, surface: SurfaceMesh) -> None:
        triangles = faces_with_area(surface)
        self.origin = surface.positions[triangles].mean(axis=(0, 1))
        positions = surface.positions - self.origin
        winding = WindingNumber(positions, triangles)
        assert winding.field is not None
        self._corners, self._tree = winding.field[:2]
        self._field, self._normals = winding.field, face_normals(self._corners)
        self._search = NearestPointSearch(positions, triangles)

    def at(self, points: np.ndarray, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the signed distances (p,), m, and the offsets (p,), m, of a surface near points.

        The distance is negative inside, and refers to the surface before the offset. The offset is outwards, at the
        closest point.

        ``points`` (p,3), m.
        ``cells`` (p,), m: cell size at each point.
        """
        points = np.ascontiguousarray(points - self.origin)
        distances, offsets = np.empty(len(points)), np.zeros(len(points))
        surface = self._corners, self._normals, self._tree, self._field
        _distances(len(points), points, np.ascontiguousarray(cells), surface, distances, offsets)
        return distances, offsets

    def nearest(self, points: np.ndarray) -> np.ndarray:
        """Return the closest points (p,3), m, on the surface without offset.

        ``points`` (p,3), m: query points.
        """
        return self._search.nearest(points - self.origin).points + self.origin

    def entered(self, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """Return the fraction (p,) at which each straight path first crosses the surface, or NaN.

        The fraction is 0 at the start and 1 at the end.

        ``starts``, ``ends`` (p,3), m.
        """
        found = np.empty(len(starts))
        segments = np.ascontiguousarray(starts - self.origin), np.ascontiguousarray(ends - self.origin)
        _entered(len(starts), *segments, self._corners, self._normals, self._tree, found)
        return found


@inlined
def _is_inside(p, n, by, field):
    """Return True if the point ``p + by n`` is inside a surface."""
    return abs(winding_at(moved(p, by, n), field)) > 0.5


@inner_kernel
def _thickness(p, distance, inside, triangle, w, cell, surface):
    """Return the thickness of the body, m, along the normal at the surface point closest to p.

    The thickness is inf if it exceeds ``THICK`` cells, and 0 for a sheet.
    """
    corners, normals, tree, field = surface
    t, n = corners[triangle], normals[triangle]
    origin, start, end = np.empty(3), np.empty(3), np.empty(3)
    side = 0.0
    for i in range(3):
        closest = w[0] * t[0, i] + w[1] * t[1, i] + w[2] * t[2, i]
        origin[i] = (1.0 - DRAWN_IN) * closest + DRAWN_IN * (t[0, i] + t[1, i] + t[2, i]) / 3.0
        side += (p[i] - closest) * n[i]
    by = BESIDE * cell
    # No face lies between p and its closest point, so if that is interior to its face, the side of p is known.
    known = w[0] > 0.0 and w[1] > 0.0 and w[2] > 0.0 and distance > by
    behind = inside if known and side < 0.0 else _is_inside(origin, n, -by, field)
    before = inside if known and side > 0.0 else _is_inside(origin, n, by, field)
    if behind == before:
        return np.inf if behind else 0.0
    inwards = -1.0 if behind else 1.0
    for i in range(3):
        start[i] = origin[i] + inwards * 0.1 * by * n[i]
        end[i] = origin[i] + inwards * THICK * cell * n[i]
    other = first_hit(start, end, corners, tree)
    if other < 0 or abs(dot(n, normals[other])) < -OPPOSITE:
        return np.inf
    along = dot(minus(corners[other, 0], origin), normals[other]) / dot(n, normals[other])
    beyond = along + (by if along > 0.0 else -by)
    return np.inf if _is_inside(origin, n, beyond, field) else abs(along)


@parallel_kernel
def _distances(first, last, points, cells, surface, distances, offsets):
    corners, _normals, tree, field = surface
    w, triangle = np.empty(3), 0
    for k in range(first, last):
        triangle, d2 = nearest_from(triangle, points[k], corners, tree, w)
        distance = np.sqrt(d2)
        inside = abs(winding_at((points[k, 0], points[k, 1], points[k, 2]), field)) > 0.5
        distances[k] = -distance if inside else distance
        if -0.5 * THICK * cells[k] < distances[k] < REACH * cells[k]:
            across = _thickness(points[k], distance, inside, triangle, w, cells[k], surface)
            offsets[k] = max(0.0, 0.5 * (THICK * cells[k] - across))


@parallel_kernel
def _entered(first, last, starts, ends, corners, normals, tree, found):
    for k in range(first, last):
        found[k] = np.nan
        triangle = first_hit(starts[k], ends[k], corners, tree)
        if triangle >= 0:
            n = normals[triangle]
            along = dot(minus(ends[k], starts[k]), n)
            found[k] = dot(minus(corners[triangle, 0], starts[k]), n) / along
