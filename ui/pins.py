"""Pins: the vertices that are held and move with the animation."""

from typing import Any

from ..blender_addon import sources
from .places import Subject, draw_reasons, panels, properties_layout, wrapped


class Pins(Subject):
    bl_label = "Pins"

    def draw(self, context: Any) -> None:
        obj = sources.body_of(context)
        layout = properties_layout(self)
        layout.prop_search(obj.sinew, "pin_group", obj, "vertex_groups")
        row = layout.row()
        row.use_property_decorate = True
        row.active = bool(obj.sinew.pin_group)
        row.prop(obj.sinew, "hold_from")
        row = layout.row(align=True)
        row.operator("sinew.assign_pins", text="Pin Selected", icon="PINNED").action = "ADD"
        row.operator("sinew.assign_pins", text="Unpin", icon="UNPINNED").action = "REMOVE"
        row.operator("sinew.select_pins", text="", icon="RESTRICT_SELECT_OFF")
        draw_reasons(layout, context, "sinew.assign_pins", "sinew.select_pins")
        if obj.sinew.pick_warning:
            wrapped(layout, obj.sinew.pick_warning, context, "ERROR")
        if not obj.sinew.pin_group:
            layout.label(text="Nothing is held: the body falls", icon="INFO")


CLASSES = panels(Pins, "pins")
