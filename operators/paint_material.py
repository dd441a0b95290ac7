"""Paint where the active physical material is."""

import bpy

from . import polls


class SINEW_OT_paint_material(bpy.types.Operator):
    bl_idname = "sinew.paint_material"
    bl_label = "Paint"
    bl_description = (
        "Paint where this material is, in Weight Paint mode. Each stroke keeps the sum of all materials at one"
    )
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return polls.has_material(cls, polls.idle_body(cls, context))

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = context.object
        material = polls.active_material(obj)
        group = obj.vertex_groups.get(material.vertex_group) if material.vertex_group else None
        if group is None:
            group = obj.vertex_groups.new(name=material.name)
            material.vertex_group = group.name
        obj.vertex_groups.active_index = group.index
        if obj.mode != "WEIGHT_PAINT":
            bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
        return {"FINISHED"}


class SINEW_OT_stop_painting(bpy.types.Operator):
    bl_idname = "sinew.stop_painting"
    bl_label = "Stop Painting"
    bl_description = "Back to Object Mode"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return context.object is not None and context.object.mode == "WEIGHT_PAINT"

    def execute(self, context: bpy.types.Context) -> set[str]:
        bpy.ops.object.mode_set(mode="OBJECT")
        return {"FINISHED"}


CLASSES = (SINEW_OT_paint_material, SINEW_OT_stop_painting)
