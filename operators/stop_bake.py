"""Stop the child after its step."""

import bpy

from ..blender_addon import job


class SINEW_OT_stop_bake(bpy.types.Operator):
    bl_idname = "sinew.stop_bake"
    bl_label = "Stop"
    bl_description = "Stop after the present step; the frames done are kept and the bake can be resumed"
    bl_options = set()

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        run = job.current()
        if run is None or run.process is None or run.stopping:
            cls.poll_message_set("Nothing is being simulated")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        job.request_stop()
        return {"FINISHED"}


CLASSES = (SINEW_OT_stop_bake,)
