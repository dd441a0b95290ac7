"""Record a take of the body that is played with, or end the recording."""

import bpy

from ..blender_addon import live, live_again
from . import polls
from .refusals import begin_live


class SINEW_OT_live_record(bpy.types.Operator):
    bl_idname = "sinew.live_record"
    bl_label = "Record"
    bl_description = (
        "Start over at the first frame and record until the last, or until this is pressed again. Then what the mouse "
        "did becomes springs of the object, and the frames its bake. Springs of an earlier take are replaced: rename "
        "one to keep it"
    )
    bl_options = set()

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return polls.is_live(cls) and polls.can_record(cls)

    def execute(self, context: bpy.types.Context) -> set[str]:
        session = live.current()
        if session.state.recording:
            session.state.stop_recording()
            return {"FINISHED"}
        return begin_live(self, context, session.object, lambda: live_again.record(context))


CLASSES = (SINEW_OT_live_record,)
