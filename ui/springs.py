"""Springs panel: springs that pull vertices to another object or to their own animation."""

from typing import Any

import bpy

from ..blender_addon.blend_data import item_lists
from ..blender_addon.setup import unit_format
from .panel_base import CLOSED, ItemList, draw_keyed, draw_list, draw_reasons, keyed_column, panel, wrapped


class SINEW_UL_springs(ItemList, bpy.types.UIList):
    bl_idname = "SINEW_UL_springs"
    row_icon = "FORCE_HARMONIC"

    def words(self, item: Any) -> str:
        return f"{item.strength:.4g} N/m"


@panel("Springs", bl_options=CLOSED)
def draw_springs(layout: Any, context: Any, obj: Any) -> None:
    """Draw the list of springs, and the settings of the active spring."""
    draw_list(layout, obj.sinew, "spring")
    spring = item_lists.active_item(obj.sinew, "spring")
    if spring is None:
        wrapped(
            layout,
            "Add a spring (+) to pull vertices to another object or to their animated positions.",
            context,
            "INFO",
        )
        return
    _draw_spring(layout, obj, spring)
    draw_reasons(layout, context, "sinew.assign_pins")
    sag, weak = unit_format.sag_words(spring.strength, obj.sinew.bake, context.scene)
    wrapped(layout, sag, context, "ERROR" if weak else "INFO")


def _draw_spring(layout, obj, spring):
    column = keyed_column(layout)
    row = column.row(align=True)
    row.prop_search(spring, "vertex_group", obj, "vertex_groups")
    for action in ("ADD", "REMOVE"):
        button = row.operator("sinew.assign_pins", text="", icon=action)
        button.action, button.target = action, "SPRING"
    column.prop(spring, "end")
    if spring.end == "OBJECT":
        column.prop(spring, "target")
    draw_keyed(column, spring, "strength")
