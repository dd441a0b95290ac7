"""Save a .blend that has no file yet, and bake."""

import bpy
from bpy.props import BoolProperty, StringProperty

from . import polls
from .refusals import refused

FIRST_NAME = "untitled.blend"
"""What Blender calls a file that has no name yet."""


class SINEW_OT_save_and_bake(bpy.types.Operator):
    bl_idname = "sinew.save_and_bake"
    bl_label = "Save and Bake"
    bl_description = (
        "Choose where the .blend is saved, and bake: the frames are kept beside it. Nothing happens where that is "
        "cancelled"
    )
    bl_options = set()

    filepath: StringProperty(
        name="File Path", description="The .blend that is written", subtype="FILE_PATH", options={"SKIP_SAVE"}
    )
    filter_glob: StringProperty(
        name="Filter", description="Files that the browser shows", default="*.blend", options={"HIDDEN"}
    )
    check_existing: BoolProperty(
        name="Check Existing", description="Ask before another file is overwritten", default=True, options={"HIDDEN"}
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not polls.can_begin(cls, context):
            return False
        if context.blend_data.filepath:
            cls.poll_message_set("The .blend has a file: press Bake")
            return False
        return True

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if bpy.app.background:
            return self.execute(context)
        self.filepath = FIRST_NAME
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def check(self, context: bpy.types.Context) -> bool:
        before = self.filepath
        self.filepath = bpy.path.ensure_ext(before, ".blend")
        return self.filepath != before

    def execute(self, context: bpy.types.Context) -> set[str]:
        if not bpy.path.basename(self.filepath):
            self.report({"ERROR"}, "The .blend has no file yet. Name one (filepath), or save it first.")
            return {"CANCELLED"}
        try:
            bpy.ops.wm.save_as_mainfile(filepath=bpy.path.ensure_ext(self.filepath, ".blend"))
            return bpy.ops.sinew.bake("INVOKE_DEFAULT")  # it asks before it replaces frames of a file of that name
        except RuntimeError as error:
            return refused(self, error)


CLASSES = (SINEW_OT_save_and_bake,)
