"""A key a frame, straight from one to the next: what was simulated plays as it was."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..basics.list_animation import curves_at

LINEAR = 1  # number of the interpolation "LINEAR" in Blender's Keyframe.interpolation


def key_linearly(owner: Any, path: str, times: np.ndarray, values: np.ndarray) -> None:
    """Key a property of c channels at times (f,), as ``animation_in.key_times`` has them, with values (f,c)."""
    owner.keyframe_insert(path, frame=float(times[0]))
    for curve in curves_at(owner, path):
        points = curve.keyframe_points
        points.add(len(times) - len(points))
        co = np.column_stack([times, values[:, curve.array_index]])
        points.foreach_set("co", co.astype(np.float32).ravel())
        points.foreach_set("interpolation", np.full(len(times), LINEAR, dtype=np.int32))
        curve.extrapolation = "CONSTANT"
        curve.update()
