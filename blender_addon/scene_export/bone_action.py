"""Result of bone bodies: an action of their armature with the baked motion of the bones.

The action is a copy of the artist's, in which the simulated bones have one linear key a frame. Constraints that would
move these bones are switched off by a key of their influence; other bones that they moved are keyed, too. The artist's
action stays as it is.
"""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterator, Sequence
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


def write_action(armature: Any, context: Any, start: int, frames: Sequence[int], poses: dict[str, np.ndarray]) -> None:
    """Write the baked motion of bones to a new action of their armature, which replaces that of an earlier bake.

    ``start``: first frame of the bake, pre-roll included. ``poses``: matrix of each simulated bone in world space at
    each of the ``frames``, (frames,4,4), by its name.

    Raises StoreError if the armature is linked.
    """
    if armature.library is not None:
        raise StoreError(
            f"The armature “{armature.name}” is linked from another file, so its bones keep their animation.",
            "Make it a library override (Object > Library Override > Make), and bake again.",
        )
    drop_result(armature)
    bones, off = _keyed_bones(armature, poses)
    matrices = _local_matrices(armature, context, (start, *frames), poses, [bone.name for bone in bones])
    channels = [each for bone in bones for each in _channels(bone, matrices[bone.name])]
    channels += [Channel(each.path_from_id("influence"), np.zeros((len(frames), 1))) for each in off]
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
    armature: Any, context: Any, frames: Sequence[int], poses: dict[str, np.ndarray], keyed: Sequence[str]
) -> dict[str, list[Matrix]]:
    """Return the transform of the ``keyed`` bones against their rest position at each frame, by their names.

    The first of the ``frames``, that of the joints, is left out. Bones between simulated ones keep their pose of that
    frame relative to the bone above them, since joints do not know them. Others have the artist's animation.
    """
    found: dict[str, list[Matrix]] = {name: [] for name in keyed}
    between, first = {each.name for each in _between(armature, poses)}, {}
    with animated([armature]), at_frame(context.scene):
        for k, frame in enumerate(frames, start=-1):
            context.scene.frame_set(frame)
            evaluated = armature.evaluated_get(context.evaluated_depsgraph_get())
            to_armature, now = evaluated.matrix_world.inverted(), {}
            for bone in _from_the_root(evaluated):
                above = None if bone.parent is None else now[bone.parent.name]
                if bone.name in poses:
                    now[bone.name] = to_armature @ Matrix(poses[bone.name][max(k, 0)])
                else:
                    own = bone.matrix if above is None else bone.parent.matrix.inverted() @ bone.matrix
                    own = first.setdefault(bone.name, own) if bone.name in between else own
                    now[bone.name] = own.copy() if above is None else above @ own
                if bone.name in found and k >= 0:
                    found[bone.name].append(local_matrix(bone, now[bone.name], above))
    return found


def _between(armature: Any, simulated: Container[str]) -> set[Any]:
    """Return the pose bones that are not simulated, but have simulated bones above and below them."""
    lines = [bone.parent_recursive for bone in armature.pose.bones if bone.name in simulated]
    above = {each for line in lines for each in line if each.name not in simulated}
    return {each for each in above if any(other.name in simulated for other in each.parent_recursive)}


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


def _keyed_bones(armature: Any, simulated: Container[str]) -> tuple[list[Any], list[Any]]:
    """Return the pose bones that the action keys, and the constraints that it switches off.

    The bones are the simulated ones, those between them, and those that such a constraint moves. The constraints are
    those that move any of these bones.
    """
    bones = armature.pose.bones
    keyed = {each for each in bones if each.name in simulated} | _between(armature, simulated)
    off: dict[Any, list[Any]] = {}
    waiting = {each: _chain(bone, each) for bone in bones for each in bone.constraints}
    while found := {each: chain for each, chain in waiting.items() if keyed.intersection(chain) and each not in off}:
        off |= found
        keyed = keyed.union(*found.values())
    return [each for each in bones if each in keyed], list(off)


def _chain(bone: Any, constraint: Any) -> list[Any]:
    """Return the bones that a constraint of a pose bone moves."""
    if constraint.type not in {"IK", "SPLINE_IK"}:
        return [bone]
    whole = [bone, *bone.parent_recursive]
    return whole[: constraint.chain_count + 1] if constraint.chain_count else whole


def remove(obj: Any, _nodes: Any = None, _shared: bool = False) -> None:
    """Remove the action with the baked motion of a bone body's armature."""
    if bone_of(obj) is not None:
        drop_result(obj.parent)


def lost(obj: Any, _record: Any) -> str:
    """Return a message if the action with the motion of a bone body is missing. Otherwise the text is empty."""
    is_there = bone_of(obj) is not None and has_result(obj.parent)
    return "" if is_there else "The action with the motion of the bone was removed."
