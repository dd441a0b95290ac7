"""Keep the present shape as the one without stress."""

import bpy

from ..blender_addon import sources
from ..blender_addon.bridge.rest_in import store_rest
from ..core.errors import SinewError
from . import polls
from .refusals import refused


class SINEW_OT_set_rest_shape(bpy.types.Operator):
    bl_idname = "sinew.set_rest_shape"
    bl_label = "Set Rest Shape"
    bl_description = (
        "Keep the shape of this frame as the one without stress, in a shape key. At the first frame the body then "
        "begins in the shape that it has there, and is drawn to this one"
    )
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = polls.idle_body_outside_edit(cls, context)
        if obj is not None and obj.sinew.bake.status != "NONE":
            cls.poll_message_set("The bake has its own shapes: press Delete Bake first")
            return False
        return obj is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            name = store_rest(sources.body_of(context), context)
        except SinewError as error:
            return refused(self, error)
        self.report({"INFO"}, f"The shape key “{name}” keeps the rest shape")
        return {"FINISHED"}


CLASSES = (SINEW_OT_set_rest_shape,)
