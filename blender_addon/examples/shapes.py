"""Mesh parts made of Blender's primitives. A part is a function that adds itself to a ``bmesh``. Lengths are in m."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import bmesh
from mathutils import Matrix, Vector

Point = Sequence[float]
Part = Callable[[Any], Any]
SIDES = (-1.0, 1.0)
"""Signs of the sides of symmetric parts."""


def ball(centre: Point, radii: float | Point, segments: int = 24) -> Part:
    """Return a sphere. Three ``radii`` give an ellipsoid."""
    size = (radii,) * 3 if isinstance(radii, int | float) else radii
    matrix = Matrix.LocRotScale(centre, None, size)
    return partial(bmesh.ops.create_uvsphere, u_segments=segments, v_segments=segments // 2, radius=1.0, matrix=matrix)


def box(centre: Point, size: Point) -> Part:
    """Return an axis-aligned box."""
    return partial(bmesh.ops.create_cube, size=1.0, matrix=Matrix.LocRotScale(centre, None, size))


def limb(a: Point, b: Point, thick: float, thin: float, segments: int = 24) -> Part:
    """Return a truncated cone from ``a`` to ``b``. ``thick``: radius at ``a``. ``thin``: radius at ``b``."""
    along, middle = Vector(b) - Vector(a), 0.5 * (Vector(a) + Vector(b))
    matrix = Matrix.LocRotScale(middle, along.to_track_quat("Z", "Y"), None)
    sizes = {"radius1": thick, "radius2": thin, "depth": along.length}
    return partial(bmesh.ops.create_cone, cap_ends=True, segments=segments, matrix=matrix, **sizes)


def lathe(
    profile: Sequence[tuple[float, float]],
    segments: int,
    flute: Callable[[float, float], float] = lambda angle, height: 1.0,
    x: float = 0.0,
) -> Part:
    """Return a closed body of revolution about a vertical axis at ``x``.

    ``profile``: points (radius, height) from the lower end on the axis to the upper end. ``flute(angle, height)``:
    factor on the radius.
    """
    angles = [2.0 * math.pi * k / segments for k in range(segments)]

    def add(shape: Any) -> None:
        rings = []
        for radius, height in profile:
            around = [(radius * flute(t, height), t) for t in (angles if radius > 0.0 else angles[:1])]
            rings.append([shape.verts.new((x + r * math.cos(t), r * math.sin(t), height)) for r, t in around])
        for lower, upper in pairwise(rings):
            for k in range(segments):
                corners = [lower[k % len(lower)], lower[(k + 1) % len(lower)]]
                corners += [upper[(k + 1) % len(upper)], upper[k % len(upper)]]
                shape.faces.new(list(dict.fromkeys(corners)))

    return add


def sweep(sections: Sequence[Sequence[Point]]) -> Part:
    """Return a closed tube through the rings ``sections``, which have equal numbers of points. Both ends are capped."""

    def add(shape: Any) -> None:
        rings = [[shape.verts.new(point) for point in section] for section in sections]
        for one, next_one in pairwise(rings):
            for k in range(len(one)):
                shape.faces.new((one[k - 1], one[k], next_one[k], next_one[k - 1]))
        shape.faces.new(rings[0])
        shape.faces.new(rings[-1])

    return add


def disc(radius: float, thickness: float, segments: int = 64) -> Part:
    """Return a round plate with its upper face at height 0."""
    rim = 0.15 * thickness
    profile = [
        (0.0, -thickness), (radius - rim, -thickness), (radius, rim - thickness), (radius, -rim), (radius - rim, 0.0),
        (0.0, 0.0),
    ]  # fmt: skip
    return lathe(profile, segments)


def gumdrop(width: float, middle: float = 0.0) -> Part:
    """Return a drop with a flat foot, a round rim and a dome.

    ``width``: m. The foot is at the height -``middle``, m.
    """
    foot = [(0.0, 0.0), (0.025, 0.0), (0.05, 0.001)]
    rim = [(0.055 + 0.01 * math.cos(a), 0.011 - 0.01 * math.sin(a)) for a in (1.2, 0.7, 0.2)]
    dome = [(0.065 * math.cos(a) ** 0.8, 0.015 + 0.085 * math.sin(a)) for a in (0.1 * k for k in range(1, 15))]
    size = width / 0.13
    return lathe([(size * r, size * z - middle) for r, z in (*foot, *rim, *dome, (0.0, 0.1))], 32)
