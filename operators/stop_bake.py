"""Stop the child after its step."""

import bpy
from bpy.props import BoolProperty

from ..blender_addon import bake_queue, job, playback, reading


class SINEW_OT_stop_bake(bpy.types.Operator):
    bl_idname = "sinew.stop_bake"
    bl_label = "Stop"
    bl_description = (
        "Stop after the present step, and begin none of the bodies that wait; the frames done are kept and the "
    )
    bl_description += "bake can be resumed"
    bl_options = set()

    by_key: BoolProperty(
        name="By Key", description="Asked for by Esc, which other tools may want", options={"HIDDEN", "SKIP_SAVE"}
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        run = job.current()
        if reading.current() is not None or (run is None and bake_queue.is_at_work()):
            return True
        if run is None or run.process is None or run.stopping or run.mode == "live":
            stopping = run is not None and run.stopping
            cls.poll_message_set("It stops after the present step" if stopping else "Nothing is being simulated")
            return False
        return True

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if self.by_key and playback.takes_esc(context):
            return {"PASS_THROUGH"}
        return self.execute(context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        bake_queue.clear()
        reading.stop()
        job.request_stop()
        return {"FINISHED"}


CLASSES = (SINEW_OT_stop_bake,)
