"""Switches of Sinew's overlays in the Overlays popover."""

from typing import Any

import bpy

from ..blender_addon.bake import comparison
from ..blender_addon.objects import duplicate_result
from .panel_base import Subject


class VIEW3D_PT_sinew_overlays(Subject, bpy.types.Panel):
    bl_space_type = "VIEW_3D"
    bl_region_type = "HEADER"
    bl_parent_id = "VIEW3D_PT_overlay"
    bl_label = "Sinew"

    def draw(self, context: Any) -> None:
        settings, layout = context.workspace.sinew, self.layout
        layout.active = context.space_data.overlay.show_overlays
        row = layout.row(align=True)
        row.prop(settings, "show_tets")
        part = row.row(align=True)
        part.active = settings.show_tets
        part.prop(settings, "colour", text="")
        column = layout.column(align=True)
        column.active = settings.show_tets
        row = column.row(align=True)
        row.prop(settings, "use_slice")
        part = row.row(align=True)
        part.active = settings.use_slice
        part.prop(settings, "slice_axis", expand=True)
        row = column.row(align=True)
        row.active = settings.use_slice
        row.prop(settings, "slice_offset")
        row.prop(settings, "slice_flip", text="", icon="ARROW_LEFTRIGHT")
        layout.prop(settings, "show_outside")
        grid = layout.column_flow(columns=2)
        for name in (
            "show_pins",
            "show_springs",
            "show_colliders",
            "show_nodes",
            "show_contacts",
            "show_touching",
            "show_fibres",
        ):
            grid.prop(settings, name)
        row = layout.row()
        row.active = settings.show_fibres
        row.prop(settings, "fibre_colour", expand=True)
        body = duplicate_result.body_of(context)
        if comparison.seen(body).folder is not None:
            layout.prop(body.sinew.compare, "show")
