"""Collisions: the ground and other objects that are in the way."""

from typing import Any

from .places import Subject, panels, properties_layout


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


CLASSES = panels(Collisions, "collisions", bl_options={"DEFAULT_CLOSED"})
