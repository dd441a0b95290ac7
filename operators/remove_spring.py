"""Remove the active spring."""

import bpy

from ..blender_addon.bridge.list_animation import follow_items
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
        settings = context.object.sinew
        order = list(range(len(settings.springs)))
        index = min(settings.active_spring, order[-1])
        settings.springs.remove(index)
        del order[index]
        follow_items(context.object, "sinew.springs", order)
        settings.active_spring = max(0, min(index, len(order) - 1))
        return {"FINISHED"}


CLASSES = (SINEW_OT_remove_spring,)
