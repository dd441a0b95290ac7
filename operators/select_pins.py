"""Show the pins by selecting them."""

import bpy

from ..blender_addon import sources
from . import polls


class SINEW_OT_select_pins(bpy.types.Operator):
    bl_idname = "sinew.select_pins"
    bl_label = "Select Pins"
    bl_description = "Select the vertices of the pin group"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = polls.body_in_edit_mode(cls, context)
        if obj is None:
            return False
        if obj.sinew.pin_group not in obj.vertex_groups:
            cls.poll_message_set("Choose a pin group first")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = sources.body_of(context)
        obj.vertex_groups.active = obj.vertex_groups[obj.sinew.pin_group]
        bpy.ops.object.vertex_group_select()
        return {"FINISHED"}


CLASSES = (SINEW_OT_select_pins,)
