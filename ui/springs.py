"""Springs: vertices that are pulled along, and let go."""

from typing import Any

import bpy

from ..blender_addon import figures, item_lists, sources
from .places import ItemList, Subject, draw_list, draw_reasons, panels, properties_layout, wrapped


class SINEW_UL_springs(ItemList, bpy.types.UIList):
    bl_idname = "SINEW_UL_springs"
    row_icon = "FORCE_HARMONIC"

    def words(self, item: Any) -> str:
        return f"{item.strength:.4g} N/m"


class Springs(Subject):
    bl_label = "Springs"

    def draw(self, context: Any) -> None:
        obj = sources.body_of(context)
        settings = obj.sinew
        draw_list(self.layout, settings, "spring")
        layout = properties_layout(self)
        spring = item_lists.active_item(settings, "spring")
        if spring is not None:
            _draw_spring(layout, obj, spring)
            draw_reasons(layout, context, "sinew.assign_pins")
            sag, weak = figures.sag_words(spring.strength, settings.bake, context.scene)
            if sag:
                wrapped(layout, sag, context, "ERROR" if weak else "INFO")
        else:
            wrapped(layout, "A spring pulls vertices along with an object, or softly holds them (+).", context, "INFO")


def _draw_spring(layout, obj, spring):
    column = layout.column()
    row = column.row(align=True)
    row.prop_search(spring, "vertex_group", obj, "vertex_groups")
    for action, icon in (("ADD", "ADD"), ("REMOVE", "REMOVE")):
        button = row.operator("sinew.assign_pins", text="", icon=icon)
        button.action, button.target = action, "SPRING"
    column.prop(spring, "end")
    if spring.end == "OBJECT":
        column.prop(spring, "target")
    row = layout.row()
    row.use_property_decorate = True
    row.prop(spring, "strength")


CLASSES = (SINEW_UL_springs, *panels(Springs, "springs", bl_options={"DEFAULT_CLOSED"}))
