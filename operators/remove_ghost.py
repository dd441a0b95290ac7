"""Take the ghost of a comparison away."""

import bpy

from ..blender_addon import baking, comparing, sources
from ..core.errors import SinewError
from . import polls
from .refusals import refused


class SINEW_OT_remove_ghost(bpy.types.Operator):
    bl_idname = "sinew.remove_ghost"
    bl_label = "Remove Ghost"
    bl_description = "Take the ghost away and delete its frames from the disk; the bake stays as it is"
    bl_options = set()

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = polls.body(cls, context)
        if obj is None:
            return False
        if baking.is_running(obj):
            cls.poll_message_set("The body is being simulated: stop it first (Esc)")
            return False
        if comparing.ghost_folder(obj) is None and not obj.sinew.compare.message:
            cls.poll_message_set("There is no ghost: press Compare")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            comparing.remove(sources.body_of(context))
        except SinewError as error:
            return refused(self, error)
        return {"FINISHED"}


CLASSES = (SINEW_OT_remove_ghost,)
