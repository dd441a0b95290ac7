"""Conversion of a recorded live session, called a take, to springs that users can edit.

Each grabbed vertex gets a spring with a vertex group, an empty with a keyed location as its target, and a keyed
strength.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np

from ...core.jobs.job.environment import Spring
from ..blend_data.item_lists import own_name
from ..blend_data.list_animation import follow_items
from ..properties.mirror import clean
from ..scene_import.animation_in import key_times
from ..scene_import.mesh_in import unit_scale
from .linear_keys import key_linearly
from .shape_keys import drop_action

MARK = 0.04
"""Display size of an empty, as a fraction of the body's size."""


def keyable_target(target: np.ndarray, first: np.ndarray, scale: float) -> np.ndarray:
    """Return the position (3,), m, to which a spring pulls if its target empty is keyed at ``target``.

    The position differs from ``target``, since keys are rounded to 32 bits. The spring pulls to ``first`` plus the
    empty's displacement since the first frame. ``target`` (3,), m. ``first`` (3,), m: the vertex's position at the
    first frame. ``scale``: metres per Blender unit.
    """
    return first + scale * (_kept(target / scale) - _kept(first / scale))


def keyable_strength(strength: float) -> float:
    """Return the nearest strength, N/m, that a keyed 32-bit property can represent."""
    return clean(float(np.float32(strength)))


def _kept(values: np.ndarray) -> np.ndarray:
    return np.asarray(values, dtype=np.float32).astype(np.float64)


def is_of_take(spring: Any) -> bool:
    """Return True if the spring comes from a take (recorded live session) and has kept its name."""
    return bool(spring.take) and spring.take == spring.name


def names_of_take(obj: Any) -> set[str]:
    """Return the names of the springs from the object's last take (recorded live session), except renamed springs."""
    return {spring.name for spring in obj.sinew.springs if is_of_take(spring)}


def put_take(obj: Any, scene: Any, springs: Sequence[Spring], first: int, size: float) -> None:
    """Add the springs of a take (recorded live session) to the object. The springs of an earlier take are removed.

    Each spring pulls one vertex of the object's own mesh. ``first``: frame at which the take began. ``size``: size of
    the body in Blender units.
    """
    remove_take(obj)
    taken = {spring.name for spring in obj.sinew.springs}
    for spring in springs:
        name = own_name(spring.name, taken, "{} ({})")
        taken.add(name)
        group = obj.vertex_groups.new(name=name)
        group.add([int(v) for v in spring.vertices], 1.0, "REPLACE")
        item = obj.sinew.springs.add()
        item.name = item.take = name
        item.vertex_group, item.end = group.name, "OBJECT"
        item.target = _empty(f"{obj.name} {name}", obj, scene, size)
        times = key_times(scene, np.arange(first, first + len(spring.stiffness)))
        locations = spring.targets[:, 0] / unit_scale(scene)
        key_linearly(item.target, "location", times, locations)
        index = len(obj.sinew.springs) - 1
        key_linearly(obj, f"sinew.springs[{index}].strength", times, spring.stiffness[:, None])
        item.strength = spring.stiffness[0]
    obj.sinew.active_spring = max(0, len(obj.sinew.springs) - 1)


def remove_take(obj: Any) -> None:
    """Remove the springs of the last take (recorded live session), with their vertex groups and unused empties.

    Renamed springs are kept.
    """
    springs = obj.sinew.springs
    order = [index for index, spring in enumerate(springs) if not is_of_take(spring)]
    if len(order) == len(springs):
        return
    for index in reversed(range(len(springs))):
        if index in order:
            continue
        group, target = obj.vertex_groups.get(springs[index].vertex_group), springs[index].target
        if group is not None and group.name == springs[index].take:
            obj.vertex_groups.remove(group)
        springs.remove(index)
        if target is not None and target.type == "EMPTY" and not _is_used(target):
            drop_action(target)
            bpy.data.objects.remove(target)
    follow_items(obj, "sinew.springs", order)
    obj.sinew.active_spring = max(0, len(order) - 1)


def _empty(name: str, obj: Any, scene: Any, size: float) -> Any:
    empty = bpy.data.objects.new(name, None)
    empty.empty_display_type, empty.empty_display_size = "SPHERE", MARK * size
    homes = [c for c in obj.users_collection if c.library is None] or [scene.collection]
    homes[0].objects.link(empty)
    return empty


def _is_used(empty: Any) -> bool:
    """Return True if an empty has users other than collections."""
    return empty.users - empty.use_fake_user > len(empty.users_collection)
