"""Back to the first frame of the body that is played with."""

import bpy

from ..blender_addon import live, live_again
from . import polls
from .refusals import begin_live


class SINEW_OT_live_reset(bpy.types.Operator):
    bl_idname = "sinew.live_reset"
    bl_label = "Reset"
    bl_description = (
        "Back to the first frame, at rest, with nothing grabbed. What was edited meanwhile counts from now on, and "
        "modes are found anew where they have to be"
    )
    bl_options = set()

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if polls.is_live(cls) and live.current().state.recording:
            cls.poll_message_set("A take is being recorded: stop it first (Esc)")
            return False
        return polls.is_live(cls)

    def execute(self, context: bpy.types.Context) -> set[str]:
        return begin_live(self, context, live.current().object, lambda: live_again.reset(context))


CLASSES = (SINEW_OT_live_reset,)
