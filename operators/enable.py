"""Make an object an elastic body."""

import bpy

from ..blender_addon import sources, starting
from . import polls


class SINEW_OT_enable(bpy.types.Operator):
    bl_idname = "sinew.enable"
    bl_label = "Sinew"
    bl_description = "Simulate this object as an elastic body made of physical materials"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = polls.mesh_object(cls, context)
        source = obj and sources.source_of(obj)
        if source is not None:
            cls.poll_message_set(f"This is the bake of “{source.name}”")
            return False
        return obj is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        starting.enable(context.object)
        return {"FINISHED"}


CLASSES = (SINEW_OT_enable,)
