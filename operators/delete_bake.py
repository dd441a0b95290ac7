"""Remove a bake: the shapes in the scene and the frames on disk."""

import bpy

from ..blender_addon import baking, comparing, sources
from ..core.errors import SinewError
from . import polls
from .refusals import refused


class SINEW_OT_delete_bake(bpy.types.Operator):
    bl_idname = "sinew.delete_bake"
    bl_label = "Delete Bake"
    bl_description = (
        "Remove the baked shapes and all that is kept on disk, for live mode and Compare too; a hidden original is "
        "shown again"
    )
    bl_options = {"UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = polls.mesh_object(cls, context)
        source = obj and (sources.body_of(context) or obj)
        if source is None:
            return False
        if baking.is_running(source):
            cls.poll_message_set("The body is being simulated: stop it first (Esc)")
            return False
        if source.mode == "EDIT":
            cls.poll_message_set("Leave Edit Mode first (Tab)")
            return False
        if source.sinew.bake.status == "NONE":
            cls.poll_message_set("There is no bake")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        source = sources.body_of(context) or context.object
        try:
            comparing.remove(source)
            words = baking.delete(source)
            baking.delete_live(source)
        except SinewError as error:
            baking.note_error(source, error)
            return refused(self, error)
        if words:
            self.report({"WARNING"}, words)
        context.view_layer.objects.active = source
        return {"FINISHED"}


CLASSES = (SINEW_OT_delete_bake,)
