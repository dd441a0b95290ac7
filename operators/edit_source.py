"""Show the object that a bake was made from in the place of that bake, and back."""

import bpy

from ..blender_addon import sources
from ..core.errors import SinewError
from . import polls
from .refusals import refused


class SINEW_OT_edit_source(bpy.types.Operator):
    bl_idname = "sinew.edit_source"
    bl_label = "Edit Source"
    bl_description = (
        "Show the object that was baked in the place of its bake, and select it: to edit, paint or play with it. "
        "Renders go on showing the bake, and Show Bake brings it back"
    )
    bl_options = {"UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = polls.body_with_duplicate(cls, context)
        if obj is not None and sources.is_edited(obj):
            cls.poll_message_set("The source is shown")
            return False
        return obj is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            sources.show_source(sources.body_of(context), context)
        except SinewError as error:
            return refused(self, error)
        return {"FINISHED"}


class SINEW_OT_show_bake(bpy.types.Operator):
    bl_idname = "sinew.show_bake"
    bl_label = "Show Bake"
    bl_description = "Hide the object that was baked again, and show and select its bake"
    bl_options = {"UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = polls.body_with_duplicate(cls, context)
        if obj is not None and not sources.is_edited(obj):
            cls.poll_message_set("The bake is shown")
            return False
        return obj is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            sources.show_bake(sources.body_of(context), context)
        except SinewError as error:
            return refused(self, error)
        return {"FINISHED"}


CLASSES = (SINEW_OT_edit_source, SINEW_OT_show_bake)
