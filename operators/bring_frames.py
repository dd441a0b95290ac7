"""Have the frames of a bake that lie with another .blend or object, or where this .blend was, in its own folder."""

import bpy

from ..blender_addon import baking, sources
from ..core.errors import SinewError
from . import polls
from .refusals import refused


class SINEW_OT_bring_frames(bpy.types.Operator):
    bl_idname = "sinew.bring_frames"
    bl_label = "Bring Frames"
    bl_description = (
        "Have the baked frames in a folder beside this .blend: copied where another file or object has them, too, else "
        "moved. A bake, Resume and Convert Result do so by themselves"
    )
    bl_options = {"UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not polls.can_begin(cls, context, "the frames are brought beside it") or not polls.has_bake(cls, context):
            return False
        if not baking.is_elsewhere(sources.body_of(context)):
            cls.poll_message_set("The frames are beside this .blend, or not on disk")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = sources.body_of(context)
        try:
            baking.bring_frames(obj)
        except SinewError as error:
            baking.note_error(obj, error)
            return refused(self, error)
        self.report({"INFO"}, f"The frames of “{obj.name}” are in {obj.sinew.bake.folder}")
        return {"FINISHED"}


CLASSES = (SINEW_OT_bring_frames,)
