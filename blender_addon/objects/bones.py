"""Bone bodies: rigid bodies whose meshes are children of bones, and the action that shows their baked motion.

The result of a bake is an action of the armature. The record of the armature (``sinew.skeleton``) keeps a reference to
the artist's action, which moves the armature while the scene is read for a bake, and the pose without the result.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import bpy

from ..blend_data.list_animation import curves_of, curves_of_action
from ..blend_data.temporary_values import Override


def bone_of(obj: Any) -> Any | None:
    """Return the pose bone whose rigid body an object is, or None. The object is a child of the bone."""
    if not obj.sinew.enabled or obj.sinew.method != "rigid" or obj.parent_type != "BONE":
        return None
    is_posed = obj.parent is not None and obj.parent.type == "ARMATURE"
    return obj.parent.pose.bones.get(obj.parent_bone) if is_posed else None


def bodies_of(armature: Any) -> dict[str, list[Any]]:
    """Return the bone bodies of an armature by the names of their bones."""
    found: dict[str, list[Any]] = {}
    for child in armature.children:
        if bone_of(child) is not None:
            found.setdefault(child.parent_bone, []).append(child)
    return found


def first_body(armature: Any) -> Any | None:
    """Return the body of the first bone that has one, or None. A root comes before its children."""
    bodies = bodies_of(armature)
    return next((bodies[bone.name][0] for bone in armature.pose.bones if bone.name in bodies), None)


def joint_partner(obj: Any) -> Any | None:
    """Return the body that a bone body is joined to: that of the nearest bone above its bone. None without a joint."""
    bone = bone_of(obj)
    if bone is None or obj.sinew.joint.kind == "NONE":
        return None
    bodies = bodies_of(obj.parent)
    return next((bodies[above.name][0] for above in bone.parent_recursive if above.name in bodies), None)


def armatures_of(bodies: Iterable[Any]) -> list[Any]:
    """Return the armatures of the bone bodies among ``bodies``, each once."""
    return list(dict.fromkeys(obj.parent for obj in bodies if bone_of(obj) is not None))


def has_result(armature: Any) -> bool:
    """Return True if an action holds the baked motion of the armature's bones."""
    return armature.sinew.skeleton.result is not None


def shows_result(armature: Any) -> bool:
    """Return True if the baked motion moves the armature."""
    data = armature.animation_data
    return has_result(armature) and data is not None and data.action == armature.sinew.skeleton.result


def own_curves(block: Any) -> Iterator[Any]:
    """Yield the F-curve collections of a data-block, as ``curves_of``, with the artist's action of an armature."""
    if not isinstance(block, bpy.types.Object) or block.type != "ARMATURE" or not shows_result(block):
        yield from curves_of(block)
        return
    record = block.sinew.skeleton
    if record.animation is not None:
        yield from curves_of_action(record.animation, _slot(record.animation, record.slot))


def show_result(armature: Any, action: Any) -> None:
    """Let ``action``, with the baked motion, move the armature. The artist's action is kept in the record."""
    data, record = armature.animation_data or armature.animation_data_create(), armature.sinew.skeleton
    if not shows_result(armature):
        slot = getattr(data, "action_slot", None)  # since 4.4
        record.animation, record.slot = data.action, slot.identifier if slot is not None else ""
    _assign(data, action, record.slot)
    record.result = action


def keep_pose(armature: Any, paths: Iterable[str]) -> None:
    """Record the values of properties of the armature, which the result will key. ``paths``: their data paths."""
    pose = armature.sinew.skeleton.pose
    pose.clear()
    for path in paths:
        value, item = armature.path_resolve(path), pose.add()
        components = [value] if isinstance(value, float) else list(value)
        item.name, item.size, item.values = path, len(components), [*components, 0.0, 0.0, 0.0][:4]


def show_animation(armature: Any) -> None:
    """Let the artist's action move the armature again, if the baked motion does."""
    if not shows_result(armature):
        return
    record = armature.sinew.skeleton
    _assign(armature.animation_data, record.animation, record.slot)
    for item in record.pose:
        values = tuple(item.values)[: item.size]
        with suppress(ValueError):  # the bone or its constraint was removed
            Override(armature, item.name, None).assign(values[0] if item.size == 1 else values)


def drop_result(armature: Any) -> None:
    """Delete the action with the baked motion, unless a copy of the armature has it. The artist's action moves it."""
    show_animation(armature)
    result = armature.sinew.skeleton.result
    copies = (each for each in bpy.data.objects if each != armature and each.sinew.skeleton.result == result)
    if result is not None and next(copies, None) is None:
        bpy.data.actions.remove(result)
    armature.sinew.property_unset("skeleton")


@contextmanager
def animated(armatures: Iterable[Any]) -> Iterator[None]:
    """Move the armatures by the artist's actions within the context."""
    shown = [(each, each.sinew.skeleton.result) for each in armatures if shows_result(each)]
    try:
        for armature, _result in shown:
            show_animation(armature)
        yield
    finally:
        for armature, result in shown:
            show_result(armature, result)


def _assign(data: Any, action: Any, slot: str) -> None:
    data.action = action
    if action is not None and (found := _slot(action, slot)) is not None:
        data.action_slot = found


def _slot(action: Any, identifier: str) -> Any | None:
    """Return the slot of an action with this identifier, or None. Actions have no slots before Blender 4.4."""
    return next((slot for slot in getattr(action, "slots", ()) if slot.identifier == identifier), None)
