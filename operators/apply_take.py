"""Bring a recorded take into the scene: the one step of live mode that changes it, and one undo takes it back.

Failures are reported as warnings: an error report raises in the timer that calls this, and so would never be seen.
"""

import bpy
from bpy.props import StringProperty

from ..blender_addon import baking, live_take
from ..blender_addon.bridge.take_out import names_of_take
from ..core.errors import SinewError


class SINEW_OT_apply_take(bpy.types.Operator):
    bl_idname = "sinew.apply_take"
    bl_label = "Record Live"
    bl_options = {"UNDO", "INTERNAL"}

    object_name: StringProperty(
        name="Object", description="Name of the body that was played with", options={"SKIP_SAVE"}
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = bpy.data.objects[self.object_name]
        try:
            count = live_take.put(obj, context, live_take.waiting())
        except SinewError as error:
            obj.sinew.live.message = str(error)
            baking.note_error(obj, error)
            self.report({"WARNING"}, str(error))
            return {"FINISHED"}
        grabs = "its grabs are springs now" if names_of_take(obj) else "nothing was grabbed"
        self.report({"INFO"}, f"Sinew: a take of {count} frames of “{obj.name}” is baked; {grabs}")
        return {"FINISHED"}


CLASSES = (SINEW_OT_apply_take,)
