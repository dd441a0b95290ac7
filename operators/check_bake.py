"""Compare a bake with the scene as it is now, and name what was edited since."""

import bpy

from ..blender_addon import baking
from ..core.errors import SinewError
from . import polls


class SINEW_OT_check_bake(bpy.types.Operator):
    bl_idname = "sinew.check_bake"
    bl_label = "Check for Edits"
    bl_description = "Compare the bake with the scene as it is now, and name what was edited since"
    bl_options = set()

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = polls.idle_body_outside_edit(cls, context)
        if obj is not None and obj.sinew.bake.status == "NONE":
            cls.poll_message_set("There is no bake")
            return False
        return obj is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = context.object
        try:
            changed = baking.find_changes(obj, context)
        except SinewError as error:
            baking.note_error(obj, error)
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        obj.sinew.bake.stale = ", ".join(changed)
        self.report({"WARNING" if changed else "INFO"}, f"Changed since the bake: {', '.join(changed) or 'nothing'}")
        return {"FINISHED"}


CLASSES = (SINEW_OT_check_bake,)
