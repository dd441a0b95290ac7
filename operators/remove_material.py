"""Remove the active physical material."""

import bpy

from ..blender_addon import item_lists, sources
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
        item_lists.remove_active(sources.body_of(context), "material")
        return {"FINISHED"}


CLASSES = (SINEW_OT_remove_material,)
