"""Shapes from Blender's primitives, as ``bmesh``; lengths in metres."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import bmesh
from mathutils import Matrix, Vector

Point = Sequence[float]


def empty() -> Any:
    """A shape without anything yet."""
    return bmesh.new()


def ball(shape: Any, centre: Point, radii: float | Point, segments: int = 24) -> None:
    """Add a sphere or an ellipsoid."""
    size = (radii,) * 3 if isinstance(radii, int | float) else radii
    matrix = Matrix.Translation(centre) @ Matrix.Diagonal((*size, 1.0))
    bmesh.ops.create_uvsphere(shape, u_segments=segments, v_segments=segments // 2, radius=1.0, matrix=matrix)


def box(shape: Any, centre: Point, size: Point) -> None:
    """Add a box along the axes."""
    matrix = Matrix.Translation(centre) @ Matrix.Diagonal((*size, 1.0))
    bmesh.ops.create_cube(shape, size=1.0, matrix=matrix)


def limb(shape: Any, a: Point, b: Point, thick: float, thin: float, segments: int = 24) -> None:
    """Add a cone from ``a``, where its radius is ``thick``, to ``b``."""
    along = Vector(b) - Vector(a)
    matrix = Matrix.Translation(0.5 * (Vector(a) + Vector(b))) @ along.to_track_quat("Z", "Y").to_matrix().to_4x4()
    bmesh.ops.create_cone(
        shape,
        cap_ends=True,
        segments=segments,
        radius1=thick,
        radius2=thin,
        depth=along.length,
        matrix=matrix,
    )


def lathe(
    shape: Any,
    profile: Sequence[tuple[float, float]],
    segments: int,
    flute: Callable[[float, float], float] = lambda angle, height: 1.0,
) -> None:
    """Add a closed body of revolution: points (radius, height) from the lower to the upper end on the axis; ``flute``
    scales the radius by angle and height.
    """
    rings = []
    for radius, height in profile:
        if radius == 0.0:
            rings.append([shape.verts.new((0.0, 0.0, height))])
            continue
        angles = [2.0 * math.pi * k / segments for k in range(segments)]
        sizes = [radius * flute(angle, height) for angle in angles]
        rings.append(
            [shape.verts.new((r * math.cos(t), r * math.sin(t), height)) for r, t in zip(sizes, angles, strict=True)]
        )
    for lower, upper in zip(rings, rings[1:], strict=False):
        for k in range(segments):
            corners = [lower[k % len(lower)], lower[(k + 1) % len(lower)]]
            corners += [upper[(k + 1) % len(upper)], upper[k % len(upper)]]
            shape.faces.new(list(dict.fromkeys(corners)))


def disc(radius: float, thickness: float, segments: int = 64) -> Any:
    """A round plate whose upper face lies at height 0."""
    shape, rim = empty(), 0.15 * thickness
    profile = [
        (0.0, -thickness), (radius - rim, -thickness), (radius, rim - thickness), (radius, -rim), (radius - rim, 0.0),
        (0.0, 0.0),
    ]  # fmt: skip
    lathe(shape, profile, segments)
    return shape
