"""Copying of settings between bodies. Settings that name data missing in the target are skipped and reported."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy

from ..blend_data.list_animation import curves_of, follow_items
from ..objects.named_attributes import weight_attributes
from .defaults import switch_on

LEFT_OUT = {
    "rna_type", "name", "identity", "simulated_label", "stack_warning", "bake", "live", "live_layer",
    "is_stand_in", "picks", "bake_of", "pick_warning", "collider", "message", "take", "stiffness_value",
    "painted_value", "original", "split_from", "skeleton",
}  # fmt: skip
"""Properties that are not copied, such as results, picked vertices and computed properties."""
GROUPS = {
    "vertex_group", "stiffness_map", "pin_group", "node_group", "refine_group",
    "origin_group", "insertion_group", "activation_group", "seam_group",
}  # fmt: skip
"""Properties that name a vertex group."""
LISTS = ("materials", "springs", "pairs", "ties")


Values = dict[str, Any]
"""Settings of a property group by property, nested groups as Values, and lists of items as lists of Values with the
item's ``name``.
"""


def copy_settings(source: Any, target: Any) -> list[str]:
    """Copy the settings of ``source`` to ``target``. Returns descriptions of the settings that were skipped.

    Materials, springs and pairs are matched by name and put in the source's order. Items that the source lacks are
    removed from the target with their keyframes. The other items keep their keyframes. Keyframes of the source are not
    copied.
    """
    left = fill_settings(settings_of(source), target)
    if any(curve.data_path.startswith("sinew") for curves in curves_of(source) for curve in curves):
        left.append("keyframes")
    return left


def settings_of(obj: Any) -> Values:
    """Return the settings of a body."""
    return _values(obj.sinew)


def fill_settings(values: Values, target: Any) -> list[str]:
    """Set the settings of the object ``target``, which becomes a body. Returns descriptions of those that were skipped.

    Raises TypeError or ValueError if a value does not fit its property.
    """
    switch_on(target)
    left: list[str] = []
    for name in LISTS:
        _match_list([str(item["name"]) for item in values.get(name, [])], target, name)
    _fill_group(values, target.sinew, target, left)
    return list(dict.fromkeys(left))


def _values(group: Any) -> Values:
    found: Values = {}
    for prop in copied_properties(group):
        value = getattr(group, prop.identifier)
        if prop.type == "COLLECTION":
            value = [{"name": item.name, **_values(item)} for item in value]
        elif isinstance(value, bpy.types.PropertyGroup):
            value = _values(value)
        elif getattr(prop, "is_array", False):
            value = list(value)
        found[prop.identifier] = value
    return found


def _match_list(wanted: list[str], target: Any, name: str) -> None:
    """Give the target's list the items called ``wanted``, in this order."""
    items = getattr(target.sinew, name)
    before: list[int | None] = list(range(len(items)))
    for index in reversed(range(len(items))):
        earlier = [items[k].name for k in range(index)]
        if items[index].name not in wanted or items[index].name in earlier:
            items.remove(index)
            del before[index]
    for index, word in enumerate(wanted):
        found = next((k for k in range(index, len(items)) if items[k].name == word), None)
        if found is None:
            items.add().name = word
            before.append(None)
            found = len(items) - 1
        items.move(found, index)
        before.insert(index, before.pop(found))
    follow_items(target, f"sinew.{name}", before)


def _fill_group(values: Values, target: Any, obj: Any, left: list[str]) -> None:
    """Set a property group of the body ``obj``, nested groups included, and note skipped properties in ``left``."""
    for prop in copied_properties(target):
        name = prop.identifier
        if name not in values:
            continue
        value = values[name]
        if prop.type == "COLLECTION":
            for one, other in zip(value, getattr(target, name), strict=True):
                _fill_group(one, other, obj, left)
        elif isinstance(getattr(target, name), bpy.types.PropertyGroup):
            _fill_group(value, getattr(target, name), obj, left)
        elif name in GROUPS and value and not _is_group_or_attribute(obj, value):
            left.append(f"vertex group “{value}”")
        elif name == "simulate_after" and value and value not in obj.modifiers:
            left.append(f"modifier “{value}”")
        elif name == "rest_key" and value and not _has_key(obj, value):
            left.append(f"shape key “{value}”")
        elif value == obj and prop.type == "POINTER":
            left.append(f"{prop.name} “{obj.name}”, which is the object itself")
        elif not (name == "simulate_at" and value == "MODIFIER" and values["simulate_after"] not in obj.modifiers):
            setattr(target, name, value)


def _is_group_or_attribute(obj: Any, name: str) -> bool:
    return name in obj.vertex_groups or name in weight_attributes(obj, bpy.context)


def _has_key(obj: Any, name: str) -> bool:
    keys = obj.data.shape_keys
    return keys is not None and name in keys.key_blocks


def copied_properties(group: Any) -> Iterator[Any]:
    """Yield the properties of a property group that are settings."""
    for prop in group.bl_rna.properties:
        is_settable = not prop.is_readonly or prop.type in ("COLLECTION", "POINTER")
        if is_settable and prop.identifier not in LEFT_OUT:
            yield prop
