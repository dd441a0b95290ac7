"""Collisions: the ground and other objects that are in the way."""

from typing import Any

import bpy

from ..blender_addon.basics import sources
from ..blender_addon.basics.solid import SOLID, can_collide
from .places import CLOSED, ItemList, draw_properties, panel


class SINEW_UL_colliders(ItemList, bpy.types.UIList):
    bl_idname = "SINEW_UL_colliders"

    def draw_row(self, row: Any, item: Any) -> None:
        row.label(text=item.name, icon="MESH_DATA" if item.type in SOLID else "OUTLINER_OB_GROUP_INSTANCE")
        row.prop(item.sinew.collider, "use_own", text="")

    def filter_items(self, context: Any, data: Any, name: str) -> tuple[list[int], list[int]]:
        """What is listed of the objects of a collection, and in which order; Blender calls it."""
        objects, helper = getattr(data, name), bpy.types.UI_UL_list
        shown = helper.filter_items_by_name(self.filter_name, self.bitflag_filter_item, objects)
        shown = shown or [self.bitflag_filter_item] * len(objects)
        for k, obj in enumerate(objects):
            shown[k] = shown[k] if obj != sources.body_of(context) and can_collide(obj) else 0
        return shown, helper.sort_items_by_name(objects)


@panel("Collisions", bl_options=CLOSED)
def draw_collisions(layout: Any, context: Any, obj: Any) -> None:
    """The ground, and the collection of what else is in the way."""
    collisions = obj.sinew.collisions
    layout.prop(collisions, "use_ground")
    if collisions.use_ground:
        draw_properties(layout, collisions, "height", "friction")
    layout.prop(collisions, "collection")
    if collisions.collection is not None:
        layout.prop(collisions, "collider_friction")
    if collisions.use_ground or collisions.collection is not None:
        layout.prop(collisions, "thickness")


def _has_colliders(obj: Any) -> bool:
    return obj.sinew.collisions.collection is not None


@panel("Per Collider", under="collisions", where=_has_colliders, bl_options=CLOSED)
def draw_per_collider(layout: Any, context: Any, obj: Any) -> None:
    """The colliders, and what one has of its own."""
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
