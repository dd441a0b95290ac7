"""End live mode."""

import bpy
from bpy.props import BoolProperty

from ..blender_addon import live, playback
from . import polls


class SINEW_OT_live_stop(bpy.types.Operator):
    bl_idname = "sinew.live_stop"
    bl_label = "Stop"
    bl_description = "End live mode; the scene is as it was before. A take that is being recorded is kept"
    bl_options = set()

    by_key: BoolProperty(
        name="By Key", description="Asked for by Esc, which other tools may want", options={"HIDDEN", "SKIP_SAVE"}
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if live.current() is None:
            cls.poll_message_set(polls.NOT_LIVE)
            return False
        return not polls.is_rendering(cls)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if self.by_key and playback.takes_esc(context):
            return {"PASS_THROUGH"}
        return self.execute(context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        live.leave_off()
        return {"FINISHED"}


CLASSES = (SINEW_OT_live_stop,)
