"""Simulate the body over the frame range."""

import bpy

from ..blender_addon import baking, sources
from . import polls
from .refusals import begin_work


class SINEW_OT_bake(bpy.types.Operator):
    bl_idname = "sinew.bake"
    bl_label = "Bake"
    bl_description = "Simulate the body over the frame range, in the background. Blender stays free; Esc stops. Asks "
    bl_description += "before it replaces frames that are baked"
    bl_options = set()

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return polls.can_begin(cls, context, polls.KEPT)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        lost = baking.replaced_words(sources.body_of(context))
        if not lost:
            return self.execute(context)
        return context.window_manager.invoke_confirm(
            self, event, title="Bake Again?", message=lost, confirm_text="Bake Again", icon="WARNING"
        )

    def execute(self, context: bpy.types.Context) -> set[str]:
        return begin_work(self, context, "bake")


CLASSES = (SINEW_OT_bake,)
