"""Surfaces that are thin, hollow or close to themselves, built in code: plates, shells, a hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core.geometry.mesh.surface_mesh import SurfaceMesh

FINGERS = [
    ((-0.3, 0.35, 0.0), (-0.42, 1.05, 0.0), 0.075),
    ((-0.1, 0.4, 0.0), (-0.13, 1.25, 0.0), 0.08),
    ((0.1, 0.4, 0.0), (0.15, 1.2, 0.0), 0.08),
    ((0.28, 0.3, 0.0), (0.42, 0.95, 0.0), 0.065),
    ((-0.3, -0.1, 0.0), (-0.75, 0.4, 0.15), 0.09),
]
"""Ends, m, of the fingers' axes, and their radii; the thumb last."""


def plate(thickness: float, tilted: bool = False) -> SurfaceMesh:
    """Return a plate of 1 x 0.7 m."""
    sides = 1.0, 0.7, thickness
    corners = np.array([(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)], dtype=float) * sides
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return SurfaceMesh.of_faces(corners @ _tilt().T if tilted else corners, quads)


def square() -> SurfaceMesh:
    """Return a tilted sheet of 1 x 0.7 m."""
    return SurfaceMesh(plate(0.0, tilted=True).positions[::2], np.array([(0, 2, 3), (0, 3, 1)]))


def ball(rings: int, radius: float, tallest: float = 1.0) -> SurfaceMesh:
    """Return a ball about the origin, cut off at a height of ``tallest`` radii: an open sheet if less than 1."""
    n, top = 2 * rings, np.arccos(tallest)
    a, b = np.meshgrid(np.linspace(np.pi, top, rings + 1), 2.0 * np.pi * np.arange(n) / n, indexing="ij")
    points = np.stack([np.sin(a) * np.cos(b), np.sin(a) * np.sin(b), np.cos(a)], axis=2)
    r, k = (each.ravel() for each in np.indices((rings, n)))
    quads = np.column_stack([r * n + k, r * n + (k + 1) % n, (r + 1) * n + (k + 1) % n, (r + 1) * n + k])
    return _merged(radius * points.reshape(-1, 3), quads)


def hollow_ball(thickness: float, radius: float = 0.5) -> SurfaceMesh:
    """Return a ball with a hollow."""
    inner = ball(24, radius - thickness)
    return joined([ball(24, radius), SurfaceMesh(inner.positions, inner.triangles[:, ::-1])])


def hand() -> SurfaceMesh:
    """Return a palm, four fingers and a thumb of 2 m in all, each closed: they intersect."""
    palm = ball(16, 1.0)
    parts = [SurfaceMesh(palm.positions * (0.42, 0.55, 0.16), palm.triangles)]
    return joined(parts + [_capsule(*finger) for finger in FINGERS])


def joined(surfaces: Sequence[SurfaceMesh]) -> SurfaceMesh:
    """Return several surfaces concatenated, without merging vertices."""
    begins = np.cumsum([0] + [len(each.positions) for each in surfaces])
    triangles = [each.triangles + begin for each, begin in zip(surfaces, begins)]
    return SurfaceMesh(np.concatenate([each.positions for each in surfaces]), np.concatenate(triangles))


def _capsule(start: Sequence[float], end: Sequence[float], radius: float) -> SurfaceMesh:
    one = ball(10, radius)
    along = np.subtract(end, start)
    axis = along / np.linalg.norm(along)
    side = np.cross(axis, (0.0, 0.0, 1.0))
    side /= np.linalg.norm(side)
    turned = one.positions @ np.stack([side, np.cross(axis, side), axis])
    beyond = one.positions[:, 2] > 1e-9 * radius
    return SurfaceMesh(turned + np.where(beyond[:, None], end, start), one.triangles)


def _merged(points: np.ndarray, quads: np.ndarray) -> SurfaceMesh:
    """Return the triangles of quads over points, with points of equal position merged at the poles."""
    _places, first, number = np.unique(np.round(points, 12), axis=0, return_index=True, return_inverse=True)
    triangles = number.reshape(-1)[quads][:, [[0, 1, 2], [0, 2, 3]]].reshape(-1, 3)
    proper = (triangles != np.roll(triangles, 1, axis=1)).all(axis=1)
    return SurfaceMesh(points[first], triangles[proper])


def _tilt() -> np.ndarray:
    c, s = np.cos(0.6), np.sin(0.6)
    return np.array([(1, 0, 0), (0, c, -s), (0, s, c)]) @ np.array([(c, 0, s), (0, 1, 0), (-s, 0, c)])
