"""Go on reading the animation where that takes long: Esc is heard, everything else waits."""

import bpy

from ..blender_addon import bake_queue, reading
from ..core.errors import SinewError


class SINEW_OT_read_animation(bpy.types.Operator):
    bl_idname = "sinew.read_animation"
    bl_label = "Read Animation"
    bl_description = "Read the animation that a simulation needs, frame by frame. Esc cancels"
    bl_options = {"INTERNAL"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if reading.current() is None:
            cls.poll_message_set("No animation is being read")
            return False
        return context.window is not None

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        manager = context.window_manager
        self._timer = manager.event_timer_add(0.01, window=context.window)
        manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if event.type == "ESC" and event.value == "PRESS":
            bake_queue.clear()
            reading.stop()
            self.report({"INFO"}, "Cancelled: nothing was begun")
        elif event.type == "TIMER" and reading.current() is not None:
            try:
                reading.go_on()
            except (SinewError, RuntimeError) as error:
                self.report({"ERROR"}, str(error))
        if (now := reading.current()) is not None:
            context.workspace.status_text_set(f"{now.label}    Esc: Cancel")
            return {"RUNNING_MODAL"}
        self._leave(context)
        return {"FINISHED"}

    def cancel(self, context: bpy.types.Context) -> None:
        reading.stop()
        self._leave(context)

    def _leave(self, context):
        context.window_manager.event_timer_remove(self._timer)
        if context.workspace is not None:
            context.workspace.status_text_set(None)


CLASSES = (SINEW_OT_read_animation,)
