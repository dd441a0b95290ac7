"""Curve of a muscle from a stroke over the body in a 3D View."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import bpy
import numpy as np
from bpy_extras.view3d_utils import region_2d_to_origin_3d, region_2d_to_vector_3d
from mathutils import Vector
from mathutils.bvhtree import BVHTree

from ...core.foundation.errors import MaterialError
from ..properties.mirror import stiffness_of

SAMPLES = 33
"""Points of a stroke, evenly spaced, that are projected onto the body."""

POINTS = 5
"""Points of the curve."""

SMOOTH = 4
"""Half the width, in samples, of the mean that smooths the curve."""

TAPERED = 0.45
"""Radius at the ends of the muscle, relative to its middle."""

STRONG = 10.0
"""Strength of a new muscle, in stiffnesses of its own material or of the body's first one: it contracts well."""


class Passes(NamedTuple):
    """Points (s,3) where the view's rays enter and leave a body along a stroke, world space, Blender units."""

    enter: np.ndarray
    leave: np.ndarray


def passes_of(obj: Any, stroke: Sequence[Sequence[float]], region: Any, view: Any, context: Any) -> Passes:
    """Return where rays through a stroke enter and leave the body ``obj``.

    ``stroke``: at least one position in the ``region`` of a 3D View, pixels. ``view``: the region's ``RegionView3D``.
    Parts of the stroke beside the body are left out.
    """
    evaluated = obj.evaluated_get(context.evaluated_depsgraph_get())
    tree = BVHTree.FromObject(evaluated, context.evaluated_depsgraph_get())
    matrix = evaluated.matrix_world
    inverse = matrix.inverted()
    enter, leave = [], []
    for place in _evenly(np.array(stroke, dtype=np.float64)):
        at = region_2d_to_origin_3d(region, view, place)
        direction = region_2d_to_vector_3d(region, view, place)
        start, along = inverse @ at, (inverse.to_3x3() @ direction).normalized()
        first = tree.ray_cast(start, along)[0]
        # Beyond the first point by a hair, so that it is not found again.
        second = None if first is None else tree.ray_cast(first + 1e-5 * max(obj.dimensions) * along, along)[0]
        if second is not None:
            enter.append(matrix @ first)
            leave.append(matrix @ second)
    return Passes(np.array(enter).reshape(-1, 3), np.array(leave).reshape(-1, 3))


def draw_muscle(obj: Any, material: Any, passes: Passes, depth: float, thickness: float) -> Any:
    """Make the physical material a muscle along a stroke, and return its curve object.

    A curve that the material has already gets the new spline. A new muscle is strong enough for the flesh around it.

    Parameters
    ----------
    depth : position between the body's front, 0, and its back, 1, as seen in the view
    thickness : diameter of the muscle in the middle, as a fraction of the body's thickness there

    Raises
    ------
    MaterialError
        The stroke is not over the body.
    """
    if len(passes.enter) < POINTS:
        raise MaterialError(f"The stroke is not over “{obj.name}”.", "Draw over the body, from one end to the other.")
    centres = _smoothed(passes.enter + depth * (passes.leave - passes.enter))
    through = np.linalg.norm(passes.leave - passes.enter, axis=1)
    radius = 0.5 * thickness * float(np.median(through))
    own, curve = material.muscle, material.muscle.curve
    if curve is None or curve.type != "CURVE" or not curve.users_collection or curve.library is not None:
        curve = _new_curve(material.name, obj)
    data, to_curve = curve.data, curve.matrix_world.inverted()
    data.bevel_depth = radius * float(np.cbrt(abs(to_curve.determinant())))
    data.splines.clear()
    points = data.splines.new("BEZIER").bezier_points
    points.add(POINTS - 1)
    parts = np.linspace(0.0, 1.0, POINTS)
    chosen = centres[np.round(parts * (len(centres) - 1)).astype(int)]
    for point, at, part in zip(points, chosen, parts, strict=True):
        point.co = to_curve @ Vector(at)
        point.radius = TAPERED + (1.0 - TAPERED) * float(np.sin(np.pi * part))
        point.handle_left_type = point.handle_right_type = "AUTO"
    if not own.enabled:
        own.strength = STRONG * max(stiffness_of(each.log_stiffness) for each in (material, obj.sinew.materials[0]))
    own.enabled, own.direction, own.curve = True, "CURVES", curve
    return curve


def _new_curve(name: str, body: Any) -> Any:
    data = bpy.data.curves.new(name, "CURVE")
    data.dimensions = "3D"
    curve = bpy.data.objects.new(name, data)
    curve.display_type, curve.show_in_front, curve.hide_render = "WIRE", True, True
    for collection in body.users_collection:
        collection.objects.link(curve)
    return curve


def _evenly(stroke: np.ndarray) -> np.ndarray:
    """Return evenly spaced points (SAMPLES,2) along a polyline (k,2)."""
    lengths = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(stroke, axis=0), axis=1))])
    at = np.linspace(0.0, lengths[-1], SAMPLES)
    return np.column_stack([np.interp(at, lengths, stroke[:, k]) for k in range(2)])


def _smoothed(points: np.ndarray) -> np.ndarray:
    """Return points (s,3) averaged over their neighbours, fewer towards the ends, which stay."""
    count = len(points)
    windows = [min(SMOOTH, k, count - 1 - k) for k in range(count)]
    return np.array([points[k - w : k + w + 1].mean(axis=0) for k, w in enumerate(windows)])
