"""Pins panel: vertices that follow the object's animation, exactly or by springs."""

from typing import Any

from ..blender_addon.draw_handlers import open_panel
from .panel_base import draw_keyed, draw_reasons, keyed_column, panel, wrapped


@panel("Pins", is_often=True)
def draw_pins(layout: Any, context: Any, obj: Any) -> None:
    """Draw the pin group, its threshold and goal, and the buttons that pin vertices."""
    settings = obj.sinew
    if settings.pin_group:
        open_panel.PINS.drawn(context)
    column = keyed_column(layout)
    column.prop(settings, "pin_group", icon="GROUP_VERTEX")
    if settings.pin_group:
        draw_keyed(column, settings, "pin_threshold")
        column.prop(settings, "use_goal")
        if settings.use_goal:
            draw_keyed(column, settings, "goal_strength")
    if obj.mode == "EDIT":
        _draw_for_selected(layout, context)
    elif context.area is not None and context.area.type == "VIEW_3D":  # the pick tool exists only in 3D Views
        layout.operator("sinew.start_picking", icon="PINNED")
    wrapped(layout, settings.pick_warning, context, "ERROR")
    if not settings.pin_group and not any(material.is_followed for material in settings.materials):
        layout.label(text="No pins: the body will fall", icon="INFO")


def _draw_for_selected(layout, context):
    row = layout.row(align=True)
    row.operator("sinew.assign_pins", text="Pin Selected", icon="PINNED").action = "ADD"
    row.operator("sinew.assign_pins", text="Unpin", icon="UNPINNED").action = "REMOVE"
    row.operator("sinew.select_pins", text="", icon="RESTRICT_SELECT_OFF")
    draw_reasons(layout, context, "sinew.assign_pins", "sinew.select_pins")
