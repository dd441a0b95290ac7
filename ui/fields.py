"""Fields: accelerations that act beside gravity."""

from typing import Any

from .places import Subject, panels, properties_layout, wrapped


class Fields(Subject):
    bl_label = "Fields"

    def draw(self, context: Any) -> None:
        obj = context.object
        layout = properties_layout(self)
        layout.prop(obj.sinew, "acceleration_attribute", icon="SPREADSHEET")
        if not obj.sinew.acceleration_attribute:
            words = "Name a vector attribute in m/s², world space. Geometry Nodes can make it."
            wrapped(layout, words, context, "INFO")


CLASSES = panels(Fields, "fields", bl_options={"DEFAULT_CLOSED"})
