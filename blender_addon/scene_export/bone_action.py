"""Result of bone bodies: an action of their armature with the baked motion of the bones.

The action is a copy of the artist's, in which the simulated bones have one linear key a frame. It also keys the
influence of constraints that would move these bones to 0. The artist's action stays as it is.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import bpy
import numpy as np
from mathutils import Matrix

from ...core.foundation.errors import StoreError
from ..blend_data.list_animation import curves_of
from ..objects.bones import animated, bone_of, drop_result, has_result, keep_pose, show_result
from ..scene_import.animation_in import at_frame, key_times
from ..scene_import.bones.limits_in import local_matrix
from .linear_keys import fill_linear

ROTATIONS = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}
"""Property with a bone's rotation by its rotation mode; Euler angles in the other modes."""


class Channel(NamedTuple):
    """Keys of one property of an armature. ``values`` (frames,c): its components at the frames."""

    path: str
    values: np.ndarray


def write_action(armature: Any, context: Any, frames: Sequence[int], poses: dict[str, np.ndarray]) -> None:
    """Write the baked motion of bones to a new action of their armature, which replaces that of an earlier bake.

    ``poses``: matrix of each simulated bone in world space at each of the ``frames``, (frames,4,4), by its name.
    Raises StoreError if the armature is linked.
    """
    if armature.library is not None:
        raise StoreError(
            f"The armature “{armature.name}” is linked from another file, so its bones keep their animation.",
            "Make it a library override (Object > Library Override > Make), and press Convert Result.",
        )
    drop_result(armature)
    locals_of = _local_matrices(armature, context, frames, poses)
    bones = [armature.pose.bones[name] for name in poses]
    channels = [each for bone in bones for each in _channels(bone, locals_of[bone.name])]
    channels += [Channel(path, np.zeros((len(frames), 1))) for path in _influences(armature, poses)]
    keep_pose(armature, [each.path for each in channels])
    data = armature.animation_data or armature.animation_data_create()
    action = bpy.data.actions.new(f"{armature.name} Bake") if data.action is None else data.action.copy()
    action.name = f"{armature.name} Bake"
    show_result(armature, action)
    times = key_times(context.scene, frames)
    for path, values in channels:
        for curves in itertools.islice(curves_of(armature), 1):  # those of the action come first
            for curve in [each for each in curves if each.data_path == path]:
                curves.remove(curve)
        armature.keyframe_insert(path, frame=float(times[0]))
        for curve in [each for each in next(curves_of(armature)) if each.data_path == path]:
            fill_linear(curve, times, values[:, curve.array_index])


def _local_matrices(
    armature: Any, context: Any, frames: Sequence[int], poses: dict[str, np.ndarray]
) -> dict[str, list[Matrix]]:
    """Return the transform of each simulated bone against its rest position at each frame, by its name.

    Other bones have the artist's animation, relative to the nearest simulated bone above them.
    """
    found: dict[str, list[Matrix]] = {name: [] for name in poses}
    with animated([armature]), at_frame(context.scene):
        for k, frame in enumerate(frames):
            context.scene.frame_set(frame)
            evaluated = armature.evaluated_get(context.evaluated_depsgraph_get())
            to_armature, now = evaluated.matrix_world.inverted(), {}
            for bone in _from_the_root(evaluated):
                if bone.name in poses:
                    now[bone.name] = to_armature @ Matrix(poses[bone.name][k])
                    above = None if bone.parent is None else now[bone.parent.name]
                    found[bone.name].append(local_matrix(bone, now[bone.name], above))
                elif bone.parent is None:
                    now[bone.name] = bone.matrix.copy()
                else:
                    now[bone.name] = now[bone.parent.name] @ bone.parent.matrix.inverted() @ bone.matrix
    return found


def _from_the_root(armature: Any) -> Iterator[Any]:
    """Yield the pose bones of an armature, parents before children."""
    waiting = [bone for bone in armature.pose.bones if bone.parent is None]
    while waiting:
        bone = waiting.pop()
        yield bone
        waiting += bone.children


def _channels(bone: Any, matrices: list[Matrix]) -> Iterator[Channel]:
    """Yield the location and the rotation of a bone, which are continuous over the frames."""
    yield Channel(bone.path_from_id("location"), np.array([each.to_translation() for each in matrices]))
    mode, turns = bone.rotation_mode, [each.to_quaternion() for each in matrices]
    for before, turn in zip(turns, turns[1:]):
        turn.make_compatible(before)
    if mode == "QUATERNION":
        values = [tuple(turn) for turn in turns]
    elif mode == "AXIS_ANGLE":
        values = [(angle, *axis) for axis, angle in (turn.to_axis_angle() for turn in turns)]
    else:
        values = [turns[0].to_euler(mode)]
        for turn in turns[1:]:
            values.append(turn.to_euler(mode, values[-1]))
    yield Channel(bone.path_from_id(ROTATIONS.get(mode, "rotation_euler")), np.array(values))


def _influences(armature: Any, simulated: dict[str, Any]) -> Iterator[str]:
    """Yield the data paths of the influence of constraints that would move simulated bones."""
    for bone in armature.pose.bones:
        for constraint in bone.constraints:
            chain = [bone]
            if constraint.type in {"IK", "SPLINE_IK"}:
                chain += bone.parent_recursive[: (constraint.chain_count or None)]
            if any(each.name in simulated for each in chain):
                yield constraint.path_from_id("influence")


def remove(obj: Any, _nodes: Any = None, _shared: bool = False) -> None:
    """Remove the action with the baked motion of a bone body's armature."""
    if bone_of(obj) is not None:
        drop_result(obj.parent)


def lost(obj: Any, _record: Any) -> str:
    """Return a message if the action with the motion of a bone body is missing. Otherwise the text is empty."""
    is_there = bone_of(obj) is not None and has_result(obj.parent)
    return "" if is_there else "The action with the motion of the bone was removed."
