"""Smooth surfaces from signed distances of ellipsoids and rods that blend into each other. Lengths are in m.

A solid is a function from points (n,3) to signed distances (n,), negative inside. The polynomial smooth minimum of
Inigo Quilez blends two of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Solid = Callable[[np.ndarray], np.ndarray]
FARTHEST, STEPS, CAUTION = 0.3, 60, 0.8
"""Distance from which rays are traced inwards, number of steps, and factor on the distances, which are estimates."""


def ellipsoid(centre: Sequence[float], radii: Sequence[float]) -> Solid:
    """Return an axis-aligned ellipsoid, with distances to first order near its surface."""

    def distance(points: np.ndarray) -> np.ndarray:
        q = (points - centre) / radii
        length, slope = np.linalg.norm(q, axis=1), np.linalg.norm(q / radii, axis=1)
        return length * (length - 1.0) / np.maximum(slope, 1e-9)

    return distance


def rod(points: Sequence[Sequence[float]], radii: Sequence[float]) -> Solid:
    """Return a round rod along a polyline, with a radius at each of its points."""
    ends, sizes = np.array(points, dtype=float), np.array(radii, dtype=float)

    def distance(at: np.ndarray) -> np.ndarray:
        found = np.full(len(at), np.inf)
        for a, b, r, s in zip(ends[:-1], ends[1:], sizes[:-1], sizes[1:], strict=True):
            along = b - a
            part = np.clip((at - a) @ along / (along @ along), 0.0, 1.0)
            found = np.minimum(found, np.linalg.norm(at - a - part[:, None] * along, axis=1) - (r + part * (s - r)))
        return found

    return distance


def joined(blend: float, *solids: Solid) -> Solid:
    """Return the union of ``solids``, whose seams are rounded over a distance of ``blend``."""

    def distance(points: np.ndarray) -> np.ndarray:
        found = solids[0](points)
        for solid in solids[1:]:
            other = solid(points)
            overlap = np.maximum(blend - np.abs(found - other), 0.0) / blend
            found = np.minimum(found, other) - 0.25 * blend * overlap**2
        return found

    return distance


def carved(blend: float, solid: Solid, *holes: Solid) -> Solid:
    """Return ``solid`` without ``holes``, with edges rounded over a distance of ``blend``."""
    outside = joined(blend, lambda points: -solid(points), *holes)
    return lambda points: -outside(points)


def offset(solid: Solid, distance: float) -> Solid:
    """Return ``solid`` grown outwards by ``distance``."""
    return lambda points: solid(points) - distance


def on_surface(solid: Solid, centre: Sequence[float], directions: np.ndarray) -> np.ndarray:
    """Return the outermost points (n,3) of ``solid`` in ``directions`` (n,3), unit vectors, as seen from ``centre``."""
    reach = np.full(len(directions), FARTHEST)
    for _ in range(STEPS):
        reach = np.maximum(reach - CAUTION * solid(centre + reach[:, None] * directions), 0.0)
    return centre + reach[:, None] * directions


def globe(rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, list[tuple[int, ...]]]:
    """Return unit vectors (n,3) on a globe with its poles at the ends of the X axis, and its faces.

    ``rows``: angles from +X between the poles, without them. ``columns``: angles around X, from -Y upwards, in a turn.
    """
    rings = [
        np.column_stack([np.full(len(columns), np.cos(a)), -np.sin(a) * np.cos(columns), np.sin(a) * np.sin(columns)])
        for a in rows
    ]
    vectors = np.concatenate([*rings, [[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]]])
    k, m, left, right = len(columns), len(rows), len(columns) * len(rows), len(columns) * len(rows) + 1
    faces: list[tuple[int, ...]] = []
    for j in range(k):
        n = (j + 1) % k
        faces += [(i * k + j, i * k + n, (i + 1) * k + n, (i + 1) * k + j) for i in range(m - 1)]
        faces += [(left, n, j), (right, (m - 1) * k + j, (m - 1) * k + n)]
    return vectors, faces


def shell(vertices: np.ndarray, faces: Sequence[Sequence[int]]) -> Callable[[Any], None]:
    """Return a mesh part with these ``vertices`` (n,3) and ``faces``."""

    def add(shape: Any) -> None:
        made = [shape.verts.new(point) for point in vertices]
        for face in faces:
            shape.faces.new([made[k] for k in face])

    return add
