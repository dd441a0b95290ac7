"""Simulate the body over the frame range."""

import bpy

from ..blender_addon import background
from . import polls


class SINEW_OT_bake(bpy.types.Operator):
    bl_idname = "sinew.bake"
    bl_label = "Bake"
    bl_description = "Simulate the body over the frame range, in the background. Blender stays free; Esc stops"
    bl_options = set()

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        kept = "the baked frames are kept beside it"
        baked = "There is a bake already: press Delete Bake, or Resume"
        return polls.can_begin(cls, context, kept, baked)

    def execute(self, context: bpy.types.Context) -> set[str]:
        return background.execute(self, context, "bake")


CLASSES = (SINEW_OT_bake,)
