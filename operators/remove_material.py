"""Remove the active physical material."""

import bpy

from ..blender_addon.bridge.list_animation import follow_items
from . import polls


class SINEW_OT_remove_material(bpy.types.Operator):
    bl_idname = "sinew.remove_material"
    bl_label = "Remove Physical Material"
    bl_description = "Remove the active physical material; its vertex group stays"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return polls.has_material(cls, polls.body(cls, context))

    def execute(self, context: bpy.types.Context) -> set[str]:
        settings = context.object.sinew
        order = list(range(len(settings.materials)))
        index = min(settings.active_material, order[-1])
        settings.materials.remove(index)
        del order[index]
        follow_items(context.object, "sinew.materials", order)
        settings.active_material = max(0, min(index, len(order) - 1))
        return {"FINISHED"}


CLASSES = (SINEW_OT_remove_material,)
