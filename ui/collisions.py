"""Collisions: the ground and other objects that are in the way."""

from typing import Any

from .places import Subject, panels, properties_layout

MOST_LISTED = 8
"""Colliders that the panel names."""


class Collisions(Subject):
    bl_label = "Collisions"

    def draw(self, context: Any) -> None:
        collisions = context.object.sinew.collisions
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
        return super().poll(context) and context.object.sinew.collisions.collection is not None

    def draw(self, context: Any) -> None:
        layout = properties_layout(self)
        body = context.object
        colliders = [o for o in body.sinew.collisions.collection.all_objects if o != body]
        for collider in sorted(colliders, key=lambda o: o.name)[:MOST_LISTED]:
            own = collider.sinew.collider
            column = layout.column()
            column.prop(own, "use_own", text=collider.name)
            if own.use_own:
                column.prop(own, "friction")
                column.prop(own, "thickness")
        if len(colliders) > MOST_LISTED:
            layout.label(text=f"and {len(colliders) - MOST_LISTED} more", icon="BLANK1")


CLASSES = (
    *panels(Collisions, "collisions", bl_options={"DEFAULT_CLOSED"}),
    *panels(PerCollider, "per_collider", under="collisions", bl_options={"DEFAULT_CLOSED"}),
)
