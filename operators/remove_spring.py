"""Remove the active spring."""

import bpy

from ..blender_addon import item_lists, sources
from . import polls


class SINEW_OT_remove_spring(bpy.types.Operator):
    bl_idname = "sinew.remove_spring"
    bl_label = "Remove Spring"
    bl_description = "Remove the active spring; its vertex group stays"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return polls.has_spring(cls, polls.body(cls, context))

    def execute(self, context: bpy.types.Context) -> set[str]:
        item_lists.remove_active(sources.body_of(context), "spring")
        return {"FINISHED"}


CLASSES = (SINEW_OT_remove_spring,)
