"""Degrees of freedom of a bone against its parent: from its IK limits and locks, and its Limit Rotation constraints.

All directions and angles are relative to the bone's rest position in Edit Mode, carried along by its parent.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from mathutils import Euler, Matrix, Vector

from ....core.jobs.job.joint import BALL, HINGE, WELD

FREE = -math.pi, math.pi
"""Range of an axis without limits, rad."""

FULL_TURN = math.tau - 1e-6
"""Least range, rad, that does not limit a twist: Blender's angles are of single precision."""


class Freedom(NamedTuple):
    """Degrees of freedom of a bone.

    Attributes
    ----------
    kind : hinge, ball or weld
    axis : index of a hinge's axis, 0 to 2
    limits : smallest and largest angle of a hinge, or 0 and the half angle of a ball's cone, rad; None without limits
    middle : direction of the middle of a ball's cone, in the frame of the bone at rest
    twist : smallest and largest twist of a ball about the bone itself, rad; None without limits
    """

    kind: str
    axis: int = 0
    limits: tuple[float, float] | None = None
    middle: Vector = Vector((0.0, 1.0, 0.0))
    twist: tuple[float, float] | None = None


def freedom_of(bone: Any, joint: Any) -> Freedom:
    """Return the degrees of freedom of a pose bone, as the settings ``joint`` of its body say."""
    if joint.kind != "AUTO":
        limits = (joint.lower, joint.upper) if joint.kind == HINGE else (0.0, joint.cone)
        twist = (joint.lower_twist, joint.upper_twist) if joint.kind == BALL and joint.use_limits else FREE
        limits = limits if joint.use_limits else None
        return Freedom(joint.kind, "XYZ".index(joint.axis), limits, twist=_limited(twist))
    ranges = [axis_range(bone, axis) for axis in "xyz"]
    free = [k for k, (low, high) in enumerate(ranges) if high > low]
    if len(free) < 2:
        axis = free[0] if free else 0
        return Freedom(HINGE if free else WELD, axis, ranges[axis] if free and ranges[axis] != FREE else None)
    if FREE in (ranges[0], ranges[2]):
        return Freedom(BALL, twist=_limited(ranges[1]))
    (low_x, high_x), twist, (low_z, high_z) = ranges
    middle = Euler((0.5 * (low_x + high_x), 0.0, 0.5 * (low_z + high_z))).to_matrix() @ Vector((0.0, 1.0, 0.0))
    half = 0.5 * max(high_x - low_x, high_z - low_z)
    return Freedom(BALL, limits=(0.0, half), middle=middle, twist=_limited(twist))


def _limited(angles: tuple[float, float]) -> tuple[float, float] | None:
    """Return the smallest and the largest angle, rad, or None if they are a full turn apart."""
    low, high = angles
    return (low, max(low, high)) if high - low < FULL_TURN else None


def axis_range(bone: Any, axis: str) -> tuple[float, float]:
    """Return the smallest and the largest angle about an axis of a pose bone, rad. ``axis``: x, y or z."""
    low, high = FREE
    if getattr(bone, f"lock_ik_{axis}"):
        return 0.0, 0.0
    if getattr(bone, f"use_ik_limit_{axis}"):
        low, high = getattr(bone, f"ik_min_{axis}"), getattr(bone, f"ik_max_{axis}")
    for limit in bone.constraints:
        is_local = limit.type == "LIMIT_ROTATION" and limit.owner_space == "LOCAL"
        if is_local and not limit.mute and getattr(limit, f"use_limit_{axis}"):
            low, high = max(low, getattr(limit, f"min_{axis}")), min(high, getattr(limit, f"max_{axis}"))
    return low, max(low, high)


def rest_rotation(bone: Any) -> Matrix:
    """Return the rotation that a pose bone would have at rest against its parent, in armature space, 3 x 3."""
    return (bone.matrix @ local_matrix(bone, bone.matrix, parent_pose(bone)).inverted()).to_3x3().normalized()


def local_matrix(bone: Any, pose: Matrix, parent: Matrix | None) -> Matrix:
    """Return the transform of a pose bone against its rest position, from its pose in armature space.

    ``parent``: pose of its parent in armature space, or None.
    """
    rest = bone.bone.matrix_local
    if parent is None:
        return bone.bone.convert_local_to_pose(pose, rest, invert=True)
    above = bone.parent.bone.matrix_local
    return bone.bone.convert_local_to_pose(pose, rest, parent_matrix=parent, parent_matrix_local=above, invert=True)


def parent_pose(bone: Any) -> Matrix | None:
    """Return the pose of a pose bone's parent in armature space, or None."""
    return None if bone.parent is None else bone.parent.matrix
