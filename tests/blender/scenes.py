"""Scenes that several tests share."""

from __future__ import annotations

from typing import Any

import bpy
from sinew.blender_addon.bake import baking
from sinew.blender_addon.scene_import.job_in import make_job

CUBE = (
    [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)],
    [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)],
)
"""Vertices and outward faces of the unit cube."""


def keyed(owner: Any, name: str, *keys: tuple[int, Any]) -> None:
    """Key a property at frames: pairs of a frame and its value."""
    for frame, value in keys:
        setattr(owner, name, value)
        owner.keyframe_insert(name, frame=frame)


def prepared(obj: Any) -> tuple[Any, Any]:
    """The job of a body as the scene is, and the store of a fresh bake."""
    job = make_job(obj, bpy.context)
    return job, baking.prepare(obj, job)


def edits(obj: Any) -> list[str]:
    """Return the edits of a body since its bake."""
    return baking.find_changes(obj, make_job(obj, bpy.context))


def add_armature(bones: dict[str, Any], name: str = "Rig") -> Any:
    """Add an armature of bones: head, tail and name of the parent, to which a bone with its head there is connected."""
    obj = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    made = obj.data.edit_bones
    for bone_name, (head, tail, parent) in bones.items():
        bone = made.new(bone_name)
        bone.head, bone.tail, bone.roll = head, tail, 0.0
        bone.parent = made[parent] if parent else None
        bone.use_connect = parent is not None and bone.head == bone.parent.tail
    bpy.ops.object.mode_set(mode="OBJECT")
    return obj
