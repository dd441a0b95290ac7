"""Show the pins by selecting them."""

import bpy

from . import polls


class SINEW_OT_select_pins(bpy.types.Operator):
    bl_idname = "sinew.select_pins"
    bl_label = "Select Pins"
    bl_description = "Select the vertices of the pin group"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = polls.body(cls, context)
        if obj is None:
            return False
        if obj.mode != "EDIT":
            cls.poll_message_set("Enter Edit Mode (Tab) first")
            return False
        if obj.sinew.pin_group not in obj.vertex_groups:
            cls.poll_message_set("Choose a pin group first")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = context.object
        obj.vertex_groups.active = obj.vertex_groups[obj.sinew.pin_group]
        bpy.ops.object.vertex_group_select()
        return {"FINISHED"}


CLASSES = (SINEW_OT_select_pins,)
