"""One frame of the body that is played with."""

import bpy

from ..blender_addon import live
from . import polls


class SINEW_OT_live_step(bpy.types.Operator):
    bl_idname = "sinew.live_step"
    bl_label = "Step"
    bl_description = "One frame on, and pause"
    bl_options = set()

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return polls.is_live(cls)

    def execute(self, context: bpy.types.Context) -> set[str]:
        live.current().state.step()
        return {"FINISHED"}


CLASSES = (SINEW_OT_live_step,)
