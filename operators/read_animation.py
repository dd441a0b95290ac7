"""Modal operator that reads a long animation frame by frame. Esc cancels the reading."""

import bpy

from ..blender_addon.jobs import job_queue
from ..blender_addon.translations.translate import CONTEXT, translated
from ..core.foundation.errors import SinewError
from . import polls


class SINEW_OT_read_animation(bpy.types.Operator):
    bl_idname = "sinew.read_animation"
    bl_translation_context = CONTEXT
    bl_label = "Read Animation"
    bl_description = "Read the animation that the simulation needs, frame by frame. Esc cancels"
    bl_options = {"INTERNAL"}

    @polls.where
    def poll(context: bpy.types.Context) -> None:
        polls.disable_if(job_queue.reading() is None, "No animation is being read")
        if context.window is None:
            raise polls.PollFailure

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        manager = context.window_manager
        self._timer = manager.event_timer_add(0.01, window=context.window)
        manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if event.type == "ESC" and event.value == "PRESS":
            job_queue.stop()
            self.report({"INFO"}, "Canceled: nothing was started")
        elif event.type == "TIMER" and job_queue.reading() is not None:
            try:
                job_queue.go_on()
            except SinewError as error:
                self.report({"ERROR"}, str(error))
        if (now := job_queue.reading()) is not None:
            context.workspace.status_text_set(f"{now.state.label}    {translated('Esc: Cancel')}")
            return {"RUNNING_MODAL"}
        self._leave(context)
        return {"FINISHED"}

    def cancel(self, context: bpy.types.Context) -> None:
        job_queue.stop_reading()
        self._leave(context)

    def _leave(self, context):
        context.window_manager.event_timer_remove(self._timer)
        if context.workspace is not None:
            context.workspace.status_text_set(None)
