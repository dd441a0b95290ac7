"""Closed tube around a polyline: the region of a muscle that a curve with radii defines."""

from __future__ import annotations

import numpy as np

from ...foundation.errors import MaterialError
from ...geometry.mesh.surface_mesh import SurfaceMesh

SIDES = 16
"""Number of vertices around the tube."""

SHARPEST = 1e-6
"""Length of the sum of two segments' unit directions below which the polyline turns back on itself."""


def polyline_tangents(points: np.ndarray) -> np.ndarray:
    """Return the unit tangent at each of the ``points`` (k,3) of a polyline, the bisector of its segments.

    Segments must be longer than 0. Raises MaterialError if the polyline turns back on itself.
    """
    steps = np.diff(points, axis=0)
    each = steps / np.linalg.norm(steps, axis=1, keepdims=True)
    tangents = np.concatenate([each[:1], each[:-1] + each[1:], each[-1:]])
    length = np.linalg.norm(tangents, axis=1, keepdims=True)
    if (length < SHARPEST).any():
        raise MaterialError("A curve of the muscle turns back on itself.", "Smooth the curve.")
    return tangents / length


def tube(points: np.ndarray, radii: np.ndarray) -> SurfaceMesh:
    """Return a closed surface around the polyline ``points`` (k,3), m, with ``radii`` (k,), m.

    The ends are flat. Frames along the polyline are transported by the smallest rotation.

    Raises MaterialError if the polyline turns back on itself.
    """
    tangents = polyline_tangents(points)
    side = np.eye(3)[np.abs(tangents[0]).argmin()]
    angles = 2.0 * np.pi * np.arange(SIDES) / SIDES
    rings = []
    for centre, tangent, radius in zip(points, tangents, radii, strict=True):
        side = side - (side @ tangent) * tangent
        side /= np.linalg.norm(side)
        other = np.cross(tangent, side)
        rings.append(centre + radius * (np.outer(np.cos(angles), side) + np.outer(np.sin(angles), other)))
    vertices = np.concatenate([*rings, points[:1], points[-1:]])
    k, ring, following = len(points), np.arange(SIDES), (np.arange(SIDES) + 1) % SIDES
    triangles = []
    for i in range(k - 1):
        a, b, c, d = SIDES * i + ring, SIDES * i + following, SIDES * (i + 1) + ring, SIDES * (i + 1) + following
        triangles += [np.stack([a, b, d], axis=1), np.stack([a, d, c], axis=1)]
    first, last = SIDES * k, SIDES * k + 1
    triangles.append(np.stack([np.full(SIDES, first), following, ring], axis=1))
    triangles.append(np.stack([np.full(SIDES, last), SIDES * (k - 1) + ring, SIDES * (k - 1) + following], axis=1))
    return SurfaceMesh(vertices, np.concatenate(triangles).astype(np.int32))
