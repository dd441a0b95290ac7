"""Turn baked frames into shape keys: the one step of a bake that changes the scene, and one undo takes it back.

``REGISTER`` is left out on purpose: Adjust Last Operation (F9) would run it again. Failures are reported as warnings:
an error report raises in the timer that calls this, and so would never be seen.
"""

import bpy
from bpy.props import StringProperty

from ..blender_addon import baking
from ..core.errors import SinewError
from ..core.simulation.frame_store import FrameStore


class SINEW_OT_apply_bake(bpy.types.Operator):
    bl_idname = "sinew.apply_bake"
    bl_label = "Bake Elastic Body"
    bl_options = {"UNDO", "INTERNAL"}

    object_name: StringProperty(name="Object", description="Name of the body that was baked", options={"SKIP_SAVE"})
    folder: StringProperty(name="Folder", description="Folder of the baked frames", options={"SKIP_SAVE"})
    status: StringProperty(name="Status", description="DONE, STOPPED or FAILED", default="DONE", options={"SKIP_SAVE"})
    message: StringProperty(name="Message", description="What the bake said in the end", options={"SKIP_SAVE"})

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = bpy.data.objects[self.object_name]
        obj.sinew.bake.message = self.message
        try:
            count = baking.put_result(obj, context, self.status, FrameStore.open(self.folder))
        except SinewError as error:
            if not baking.is_baked(obj):  # what Convert Result cannot turn into another is still there
                obj.sinew.bake.status = "FAILED"
            baking.note_error(obj, error)
            self.report({"WARNING"}, str(error))
            return {"FINISHED"}
        if obj.sinew.bake.message:
            self.report({"WARNING"}, obj.sinew.bake.message)
        else:
            self.report({"INFO"}, f"Sinew: {count} frames of “{obj.name}” are baked")
        return {"FINISHED"}


CLASSES = (SINEW_OT_apply_bake,)
