"""Play with the body in the viewport: begin, pause, go on."""

import bpy

from ..blender_addon import live
from . import polls


class SINEW_OT_live_play(bpy.types.Operator):
    bl_idname = "sinew.live_play"
    bl_label = "Play"
    bl_description = (
        "Play with the body in the viewport: drag it with the mouse, with Ctrl to pin it there. Esc ends it and leaves "
        "the scene as it was"
    )
    bl_options = set()

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        session = live.session_of(context.object)
        return session is not None and session.state.ready or polls.can_play(cls, context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        session = live.session_of(context.object)
        if session is not None:
            live.toggle()
            return {"FINISHED"}
        return polls.begin_live(self, context, context.object, lambda: live.start(context.object, context))


CLASSES = (SINEW_OT_live_play,)
