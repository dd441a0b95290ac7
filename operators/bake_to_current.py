"""Simulate the body up to the present frame; Resume goes on from there."""

import bpy

from ..blender_addon.bridge.settings_in import frame_range
from . import polls
from .refusals import begin_work


class SINEW_OT_bake_to_current(bpy.types.Operator):
    bl_idname = "sinew.bake_to_current"
    bl_label = "Bake to Current Frame"
    bl_description = "Simulate the body from the first frame, or the last that is baked, up to the current one, in the "
    bl_description += "background. Resume bakes the rest"
    bl_options = set()

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = polls.idle_body_outside_edit(cls, context)
        if not polls.can_begin(cls, context, polls.KEPT):
            return False
        record, current = obj.sinew.bake, context.scene.frame_current
        if record.status == "DONE":
            cls.poll_message_set("All frames are baked")
            return False
        first, last = frame_range(obj.sinew, context.scene)
        if not first < current <= last:
            cls.poll_message_set(f"Go to a frame after {first}, the first, and up to {last}")
            return False
        if record.frames and record.status != "NONE" and record.first_frame + record.frames > current:
            cls.poll_message_set("The frames up to the current one are baked")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        return begin_work(self, context, "", until=context.scene.frame_current)


CLASSES = (SINEW_OT_bake_to_current,)
