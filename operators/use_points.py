"""Set the number of cubature points that suffices, as the last preparation has found it."""

from typing import Any

import bpy

from ..blender_addon import live, sources
from . import polls


class SINEW_OT_use_points(bpy.types.Operator):
    bl_idname = "sinew.use_points"
    bl_label = "Use More Cubature Points"
    bl_description = (
        "Set Cubature Points to the number at which no movement of the body is too soft. A body that is played with "
        "begins anew with them"
    )
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        session = live.current()
        own = session is not None and session is live.session_of(sources.body_of(context))
        obj = polls.body(cls, context) if own else polls.idle_body(cls, context)
        if obj is None:
            return False
        if not obj.sinew.bake.points_that_suffice:
            cls.poll_message_set("Cubature points suffice, or the body has not been prepared yet")
            return False
        if own and (session.state.recording or not session.state.ready):
            cls.poll_message_set("Wait until the body is prepared and no take is recorded")
            return False
        return True

    def execute(self, context: Any) -> set[str]:
        obj = sources.body_of(context)
        obj.sinew.cubature_points = obj.sinew.bake.points_that_suffice
        if (session := live.session_of(obj)) is not None:
            session.reset_is_due = True  # by its timer: what takes long is read at other frames, no place for an undo
        obj.sinew.bake.points_that_suffice, obj.sinew.bake.points_warning = 0, ""
        return {"FINISHED"}


CLASSES = (SINEW_OT_use_points,)
