"""Take Sinew off an object."""

import bpy

from ..blender_addon import baking, sources
from ..core.errors import SinewError
from . import polls
from .refusals import refused


class SINEW_OT_disable(bpy.types.Operator):
    bl_idname = "sinew.disable"
    bl_label = "Sinew"
    bl_description = "Stop simulating this object. Its bake is deleted; its physical materials are remembered"
    bl_options = {"UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return polls.idle_body(cls, context) is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = sources.body_of(context)
        if obj.mode == "EDIT":
            bpy.ops.object.mode_set(mode="OBJECT")
        try:
            baking.delete(obj)
            baking.delete_live(obj)
        except SinewError as error:
            baking.note_error(obj, error)
            return refused(self, error)
        obj.sinew.enabled = False
        return {"FINISHED"}


CLASSES = (SINEW_OT_disable,)
