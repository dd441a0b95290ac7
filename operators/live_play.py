"""Play with the body in the viewport: begin, pause, go on."""

import bpy
from bpy.props import BoolProperty

from ..blender_addon import live, sources
from . import polls
from .refusals import begin_live


class SINEW_OT_live_play(bpy.types.Operator):
    bl_idname = "sinew.live_play"
    bl_label = "Play"
    bl_description = (
        "Play with the body in the viewport: drag it with the mouse, with Ctrl to pin it there. Esc ends it and leaves "
        "the scene as it was"
    )
    bl_options = set()

    by_key: BoolProperty(
        name="By Key",
        description="Asked for by P, which pauses and goes on, but begins nothing",
        options={"HIDDEN", "SKIP_SAVE"},
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        session = live.session_of(sources.body_of(context))
        return session is not None and session.state.ready or polls.can_play(cls, context)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if self.by_key and live.session_of(sources.body_of(context)) is None:
            return {"PASS_THROUGH"}
        return self.execute(context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = sources.body_of(context)
        if live.session_of(obj) is not None:
            live.toggle()
            return {"FINISHED"}
        return begin_live(self, context, obj, lambda: live.begin(obj, context))


CLASSES = (SINEW_OT_live_play,)
