"""Physical Materials: the list, the presets, the numbers and the maps."""

from typing import Any

import bpy

from ..blender_addon import choices
from .places import ItemList, Subject, draw_list, panels, properties_layout


class SINEW_UL_materials(ItemList, bpy.types.UIList):
    bl_idname = "SINEW_UL_materials"
    row_icon = "PHYSICS"

    def words(self, item: Any) -> str:
        unit = next(label for name, label, _ in choices.STIFFNESS_UNITS if name == item.stiffness_unit)
        return f"{item.stiffness_value:.4g} {unit}"


class SINEW_MT_presets(bpy.types.Menu):
    bl_idname = "SINEW_MT_presets"
    bl_label = "Add Physical Material"

    def draw(self, context: Any) -> None:
        for name, label, _, _ in choices.preset_items():
            self.layout.operator("sinew.add_material", text=label).preset = name


class Materials(Subject):
    bl_label = "Physical Materials"

    def draw(self, context: Any) -> None:
        settings = context.object.sinew
        draw_list(self.layout, settings, "material", "SINEW_MT_presets")
        if not settings.materials:
            self.layout.label(text="Add a physical material (+)", icon="INFO")
        else:
            index = min(settings.active_material, len(settings.materials) - 1)
            layout = properties_layout(self)
            _draw_numbers(layout, settings.materials[index])
            _draw_where(layout, context.object, settings.materials[index], is_first=index == 0)


def _draw_numbers(layout, material):
    column = layout.column()
    row = column.row(align=True)
    row.prop(material, "stiffness_value")
    unit = row.row(align=True)
    unit.ui_units_x = 3.6
    unit.prop(material, "stiffness_unit", text="")
    row.operator("sinew.show_stiffness", text="", icon="INFO")
    column.prop(material, "poissons_ratio")
    column.prop(material, "density")
    column.prop(material, "energy")


def _draw_where(layout, obj, material, is_first):
    column = layout.column()
    row = column.row(align=True)
    row.prop_search(material, "vertex_group", obj, "vertex_groups")
    column.prop(material, "region")
    if not material.vertex_group and material.region is None:
        words = "Wherever nothing is painted" if is_first else "Nowhere yet: paint it"
        layout.label(text=words, icon="INFO")
    if obj.mode == "WEIGHT_PAINT":
        row = layout.row(align=True)
        row.operator("sinew.paint_material", icon="BRUSH_DATA")
        row.operator("sinew.stop_painting", icon="LOOP_BACK")
    else:
        layout.operator("sinew.paint_material", icon="BRUSH_DATA")


CLASSES = (SINEW_UL_materials, SINEW_MT_presets, *panels(Materials, "materials"))
