"""Remove the active physical material."""

import bpy

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
        index = min(settings.active_material, len(settings.materials) - 1)
        settings.materials.remove(index)
        settings.active_material = max(0, min(index, len(settings.materials) - 1))
        return {"FINISHED"}


CLASSES = (SINEW_OT_remove_material,)
