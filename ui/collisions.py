"""Collisions: the ground and other objects that are in the way."""

from typing import Any

import bpy

from ..blender_addon import sources
from ..blender_addon.solid import SOLID, can_collide
from .places import ItemList, Subject, panels, properties_layout


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


class Collisions(Subject):
    bl_label = "Collisions"

    def draw(self, context: Any) -> None:
        collisions = sources.body_of(context).sinew.collisions
        layout = properties_layout(self)
        layout.prop(collisions, "use_ground")
        if collisions.use_ground:
            column = layout.column()
            column.prop(collisions, "height")
            column.prop(collisions, "friction")
        layout.prop(collisions, "collection")
        if collisions.collection is not None:
            layout.prop(collisions, "collider_friction")
        if collisions.use_ground or collisions.collection is not None:
            layout.prop(collisions, "thickness")


class PerCollider(Subject):
    bl_label = "Per Collider"

    @classmethod
    def poll(cls, context: Any) -> bool:
        """Whether there are colliders."""
        return super().poll(context) and sources.body_of(context).sinew.collisions.collection is not None

    def draw(self, context: Any) -> None:
        collisions = sources.body_of(context).sinew.collisions
        objects = collisions.collection.all_objects
        self.layout.template_list(
            "SINEW_UL_colliders", "", collisions.collection, "all_objects", collisions, "active_collider", rows=3
        )
        chosen = objects[collisions.active_collider] if collisions.active_collider < len(objects) else None
        if chosen is None or chosen == sources.body_of(context) or not can_collide(chosen):
            return
        own, column = chosen.sinew.collider, properties_layout(self).column()
        column.prop(own, "use_own")
        if own.use_own:
            column.prop(own, "friction")
            column.prop(own, "thickness")


CLASSES = (
    SINEW_UL_colliders,
    *panels(Collisions, "collisions", bl_options={"DEFAULT_CLOSED"}),
    *panels(PerCollider, "per_collider", under="collisions", bl_options={"DEFAULT_CLOSED"}),
)
