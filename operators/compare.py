"""Bake the body a second time with other settings, and show that as a ghost."""

import bpy

from ..blender_addon import comparing, sources
from ..core.errors import SinewError
from . import polls
from .refusals import refused


class SINEW_OT_compare(bpy.types.Operator):
    bl_idname = "sinew.compare"
    bl_label = "Compare"
    bl_description = (
        "Simulate the body as it is set now, with what is chosen here, and show that as a ghost over its bake, with "
        "the distance between both. What is missing of the bake is baked before; nothing of it is lost. In the "
        "background; Esc stops"
    )
    bl_options = set()

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return polls.can_begin(cls, context, "the frames are kept beside it")

    def execute(self, context: bpy.types.Context) -> set[str]:
        compare = sources.body_of(context).sinew.compare
        try:
            comparing.begin(sources.body_of(context), context)
        except (SinewError, RuntimeError) as error:
            comparing.note_error(sources.body_of(context), error)
            return refused(self, error)
        compare.show = True
        return {"FINISHED"}


CLASSES = (SINEW_OT_compare,)
