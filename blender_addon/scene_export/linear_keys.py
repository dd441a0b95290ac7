"""F-curves of simulated values with linear interpolation, and parabolic F-curves.

A linear F-curve has one key per frame. A parabolic F-curve is 0 at two frames and 1 halfway between these frames.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..blend_data.list_animation import curves_at

LINEAR, BEZIER = 1, 2
"""Enum numbers of Blender's Keyframe.interpolation."""
FREE = 0
"""Enum number in Blender's Keyframe.handle_left_type."""


def key_linearly(owner: Any, path: str, times: np.ndarray, values: np.ndarray) -> None:
    """Key a property of c channels, with linear interpolation.

    ``path``: data path of the property on ``owner``. ``times`` (f,): frame times from ``animation_in.key_times``.
    ``values`` (f,c): the values at these times.
    """
    owner.keyframe_insert(path, frame=float(times[0]))
    for curve in curves_at(owner, path):
        fill_linear(curve, times, values[:, curve.array_index])


def fill_linear(curve: Any, times: np.ndarray, values: np.ndarray) -> None:
    """Add linear keys to an F-curve. ``times`` (f,): frames. ``values`` (f,)."""
    _fill(curve, times, values, LINEAR)


def fill_arc(curve: Any, begin: float, end: float) -> None:
    """Add a parabola to an F-curve: 0 at the times ``begin`` and ``end``, 1 halfway, and 0 outside."""
    times, third = np.array([begin, end]), (end - begin) / 3.0
    points = _fill(curve, times, np.zeros(2), BEZIER)
    for side, sign in (("left", -1.0), ("right", 1.0)):
        inner = (times + sign * third > begin) & (times + sign * third < end)
        points.foreach_set(f"handle_{side}_type", np.full(2, FREE, dtype=np.int32))
        handles = np.column_stack([times + sign * third, np.where(inner, 4.0 / 3.0, 0.0)])
        points.foreach_set(f"handle_{side}", handles.astype(np.float32).ravel())
    curve.update()


def _fill(curve: Any, times: np.ndarray, values: np.ndarray, interpolation: int) -> Any:
    points = curve.keyframe_points
    points.add(len(times) - len(points))
    points.foreach_set("co", np.column_stack([times, values]).astype(np.float32).ravel())
    points.foreach_set("interpolation", np.full(len(times), interpolation, dtype=np.int32))
    curve.extrapolation = "CONSTANT"
    curve.update()
    return points
