"""Creation of armatures from a table of bones, and binding of meshes to an armature.

The table maps the name of each bone to the positions of its head and tail, m, and to the name of its parent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np

from ..scene_import.mesh_in import vertex_positions
from .stage import Stage

Bones = dict[str, tuple[Sequence[float], Sequence[float], str | None]]


def add_armature(stage: Stage, bones: Bones) -> Any:
    """Add an armature whose bones are rotated by Euler angles.

    Edit Mode is entered and left again, since Blender creates bones only there.
    """
    armature = stage.add("Armature", bpy.data.armatures.new("Armature"))
    armature.show_in_front = True
    before = stage.context.view_layer.objects.active
    stage.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    made = armature.data.edit_bones
    for name, (head, tail, parent) in bones.items():
        bone = made.new(name)
        bone.head, bone.tail = head, tail
        bone.parent = made[parent] if parent else None
    bpy.ops.object.mode_set(mode="OBJECT")
    stage.context.view_layer.objects.active = before
    for bone in armature.pose.bones:
        bone.rotation_mode = "XYZ"
    return armature


def follow(stage: Stage, obj: Any, armature: Any, bones: Bones) -> None:
    """Let a mesh follow an armature. Each vertex is weighted mostly to its nearest bone in the rest pose."""
    obj.modifiers.new("Armature", "ARMATURE").object = armature
    weights = 1.0 / (distances(vertex_positions(obj.data), bones) + 0.02) ** 4
    weights /= weights.sum(axis=1, keepdims=True)
    for name, of_bone in zip(bones, weights.T, strict=True):
        stage.group(obj, name, np.round(of_bone, 2))


def distances(points: np.ndarray, bones: Bones) -> np.ndarray:
    """Return the distances (n,b), m, of ``points`` (n,3), m, from the b bones."""
    found = []
    for head, tail, _parent in bones.values():
        a, along = np.array(head), np.array(tail) - np.array(head)
        part = np.clip((points - a) @ along / (along @ along), 0.0, 1.0)
        found.append(np.linalg.norm(points - a - part[:, None] * along, axis=1))
    return np.column_stack(found)
