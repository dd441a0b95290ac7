"""Compare a bake with the scene as it is now, and name what was edited since."""

import bpy

from ..blender_addon import baking, reading, sources
from ..core.errors import SinewError
from . import polls
from .refusals import refused


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
        obj, found = sources.body_of(context), []

        def keep(changed: list[str]) -> None:
            obj.sinew.bake.stale = ", ".join(changed)
            found.append(obj.sinew.bake.stale)

        steps = baking.find_changes_steps(obj, context)
        try:
            reading.start(reading.Reading(obj.session_uid, obj.name, steps, keep, baking.note_error))
        except SinewError as error:
            baking.note_error(obj, error)
            return refused(self, error)
        for words in found:  # else the panel will say so
            self.report({"WARNING" if words else "INFO"}, f"Changed since the bake: {words or 'nothing'}")
        return {"FINISHED"}


CLASSES = (SINEW_OT_check_bake,)
