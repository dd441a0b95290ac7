"""Keep the frames of a bake in another way, without simulating again."""

import bpy

from ..blender_addon import background, baking, sources
from ..core.errors import SinewError
from . import polls
from .refusals import begin_work, refused


class SINEW_OT_convert_result(bpy.types.Operator):
    bl_idname = "sinew.convert_result"
    bl_label = "Convert Result"
    bl_description = "Keep the baked frames as Result says now, without simulating again"
    bl_options = set()

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = polls.idle_body_outside_edit(cls, context)
        if obj is None:
            return False
        if obj.sinew.bake.status == "NONE":
            cls.poll_message_set("There is no bake")
            return False
        if not baking.kept_otherwise(obj):
            cls.poll_message_set("The result is kept like this already")
            return False
        if not baking.has_frames(obj):
            cls.poll_message_set("The frames are not on disk any more: press Delete Bake, then Bake")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = sources.body_of(context)
        if baking.wanted_modes(obj):
            return begin_work(self, context, "handles")
        try:
            background.apply(obj, baking.own_store(obj, shown=True).folder, obj.sinew.bake.status)
        except SinewError as error:
            baking.note_error(obj, error)
            return refused(self, error)
        return {"FINISHED"}


CLASSES = (SINEW_OT_convert_result,)
