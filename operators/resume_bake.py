"""Go on with a bake that was stopped."""

import bpy

from ..blender_addon import baking
from . import polls
from .refusals import begin_work


class SINEW_OT_resume_bake(bpy.types.Operator):
    bl_idname = "sinew.resume_bake"
    bl_label = "Resume"
    bl_description = "Go on after the last frame that was baked; also after a crash"
    bl_options = set()

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = polls.idle_body_outside_edit(cls, context)
        if not polls.has_material(cls, obj):
            return False
        if not bpy.data.filepath:
            cls.poll_message_set(f"{polls.UNSAVED}: {polls.KEPT}")
            return False
        if obj.sinew.bake.status == "DONE" and not baking.astray_words(obj):
            cls.poll_message_set("All frames are baked")
            return False
        if not baking.has_store(obj):
            cls.poll_message_set("There are no baked frames to go on from: press Bake")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        return begin_work(self, context, "resume")


CLASSES = (SINEW_OT_resume_bake,)
