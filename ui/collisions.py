"""Collisions panel: the ground, colliders and other bodies."""

from typing import Any

import bpy

from ..blender_addon.blend_data import item_lists
from ..blender_addon.objects import contact_groups, duplicate_result, linked
from ..blender_addon.objects.collider_objects import SOLID, can_collide
from ..blender_addon.translations.translate import translated
from .panel_base import CLOSED, ItemList, draw_list, draw_properties, panel, wrapped


class SINEW_UL_colliders(ItemList, bpy.types.UIList):
    bl_idname = "SINEW_UL_colliders"

    def draw_row(self, row: Any, item: Any) -> None:
        row.label(text=item.name, icon="MESH_DATA" if item.type in SOLID else "OUTLINER_OB_GROUP_INSTANCE")
        row.prop(item.sinew.collider, "use_own", text="")

    def filter_items(self, context: Any, data: Any, name: str) -> tuple[list[int], list[int]]:
        """Return a display flag and a position per object (called by Blender). Only colliders are displayed."""
        objects, helper = getattr(data, name), bpy.types.UI_UL_list
        shown = helper.filter_items_by_name(self.filter_name, self.bitflag_filter_item, objects)
        shown = shown or [self.bitflag_filter_item] * len(objects)
        for k, obj in enumerate(objects):
            shown[k] = shown[k] if obj != duplicate_result.body_of(context) and can_collide(obj) else 0
        return shown, helper.sort_items_by_name(objects)


class SINEW_UL_pairs(ItemList, bpy.types.UIList):
    bl_idname = "SINEW_UL_pairs"

    def draw_row(self, row: Any, item: Any) -> None:
        name = item.other.name if item.other else item.name
        row.label(text=name or "(none)", icon="OBJECT_DATA" if item.other else "ERROR", translate=False)


@panel("Collisions", is_often=True)
def draw_collisions(layout: Any, context: Any, obj: Any) -> None:
    """Draw the settings of the ground, the collider collection, and contact with bodies."""
    collisions = obj.sinew.collisions
    layout.prop(collisions, "use_ground")
    if collisions.use_ground:
        layout.prop(collisions, "height")
    layout.prop(collisions, "collection")
    if not linked.is_linked(obj):  # linked bodies are baked in the file that they are linked from
        column = layout.column(heading="Collide With")
        column.prop(collisions, "contact_bodies")
        column.prop(collisions, "self_contact")
        if collisions.contact_bodies:
            _draw_group(layout, context, obj)
    wrapped(layout, obj.sinew.bake.contact_warning, context, "ERROR")


def _draw_group(layout: Any, context: Any, obj: Any) -> None:
    others = [each for each in contact_groups.group_of(obj, context) if each != obj]
    if others:
        wrapped(
            layout, translated("Baked together with {names}.", names=contact_groups.names_of(others)), context, "LINKED"
        )
    if elsewhere := contact_groups.linked_bodies(context):
        names = contact_groups.names_of(elsewhere)
        words = translated(
            "No contact with bodies linked from another file: {names}. Make them local, or use them as colliders.",
            names=names,
        )
        wrapped(layout, words, context, "INFO")


@panel("Advanced", under="collisions", is_often=True, bl_options=CLOSED)
def draw_touching(layout: Any, context: Any, obj: Any) -> None:
    """Draw friction, contact distances and the collection of bodies to collide with."""
    collisions = obj.sinew.collisions
    names = ["friction"] * collisions.use_ground
    if collisions.collection is not None:
        names.append("collider_friction")
    if names:
        layout.label(text="Ground and Colliders")
        draw_properties(layout, collisions, *names, "thickness")
    if not linked.is_linked(obj):
        layout.label(text="Bodies")
        if collisions.contact_bodies:
            layout.prop(collisions, "contact_collection", text="Only")
            layout.prop(collisions, "grow_apart")
            if collisions.grow_apart and obj.sinew.pre_roll == 0:
                wrapped(layout, "Grow Apart needs a Pre-Roll: set it under Frames and Result.", context, "INFO")
        draw_properties(layout, collisions, "contact_friction", "contact_thickness")


def _has_colliders(obj: Any) -> bool:
    return obj.sinew.collisions.collection is not None


@panel("Per Collider", under="collisions", where=_has_colliders, bl_options=CLOSED)
def draw_per_collider(layout: Any, context: Any, obj: Any) -> None:
    """Draw the list of colliders and the settings of the active collider."""
    collisions = obj.sinew.collisions
    objects, index, row = collisions.collection.all_objects, collisions.active_collider, layout.row()
    row.use_property_split = False
    row.template_list(
        "SINEW_UL_colliders", "", collisions.collection, "all_objects", collisions, "active_collider", rows=3
    )
    chosen = objects[index] if index < len(objects) else None
    if chosen is None or chosen == obj or not can_collide(chosen):
        return
    own = chosen.sinew.collider
    column = layout.column()
    column.prop(own, "use_own")
    if own.use_own:
        draw_properties(column, own, "friction", "thickness")


@panel("Pairs", under="collisions", bl_options=CLOSED)
def draw_pairs(layout: Any, context: Any, obj: Any) -> None:
    """Draw the list of pairs and the settings of the active pair."""
    draw_list(layout, obj.sinew, "pair")
    pair = item_lists.active_item(obj.sinew, "pair")
    if pair is None:
        wrapped(
            layout,
            "Add a pair (+) to set friction or contact distance between this body and one other object.",
            context,
            "INFO",
        )
        return
    layout.prop(pair, "other")
    for name, label in (("friction", "Friction"), ("thickness", "Contact Distance")):
        row = layout.row(heading=label)
        row.prop(pair, f"use_{name}", text="")
        value = row.row()
        value.active = getattr(pair, f"use_{name}")
        value.prop(pair, name, text="")
    wrapped(layout, contact_groups.idle_words(obj, pair, context), context, "ERROR")
