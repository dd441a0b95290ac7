"""Springs: vertices that are pulled along, and let go."""

from typing import Any

import bpy

from .places import Subject, panels, properties_layout, wrapped


class SINEW_UL_springs(bpy.types.UIList):
    bl_idname = "SINEW_UL_springs"

    def draw_item(
        self,
        context: Any,
        layout: Any,
        data: Any,
        item: Any,
        icon: Any,
        active_data: Any,
        active_property: Any,
        index: Any,
    ) -> None:
        row = layout.row(align=True)
        row.prop(item, "name", text="", emboss=False, icon="FORCE_HARMONIC")
        right = row.row()
        right.alignment = "RIGHT"
        right.label(text=f"{item.strength:.4g} N/m")


class Springs(Subject):
    bl_label = "Springs"

    def draw(self, context: Any) -> None:
        obj = context.object
        settings = obj.sinew
        row = self.layout.row()
        row.template_list("SINEW_UL_springs", "", settings, "springs", settings, "active_spring", rows=3)
        column = row.column(align=True)
        column.operator("sinew.add_spring", text="", icon="ADD")
        column.operator("sinew.remove_spring", text="", icon="REMOVE")
        column.separator()
        column.operator("sinew.move_spring", text="", icon="TRIA_UP").direction = "UP"
        column.operator("sinew.move_spring", text="", icon="TRIA_DOWN").direction = "DOWN"
        layout = properties_layout(self)
        if settings.springs:
            _draw_spring(layout, obj, settings.springs[min(settings.active_spring, len(settings.springs) - 1)])
        else:
            wrapped(layout, "A spring pulls vertices along with an object, or softly holds them (+).", context, "INFO")


def _draw_spring(layout, obj, spring):
    column = layout.column()
    column.prop_search(spring, "vertex_group", obj, "vertex_groups")
    column.prop(spring, "end")
    if spring.end == "OBJECT":
        column.prop(spring, "target")
    row = layout.row()
    row.use_property_decorate = True
    row.prop(spring, "strength")


CLASSES = (SINEW_UL_springs, *panels(Springs, "springs", bl_options={"DEFAULT_CLOSED"}))
