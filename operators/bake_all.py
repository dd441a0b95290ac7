"""Simulate several bodies in one run."""

import bpy
from bpy.props import BoolProperty

from ..blender_addon import bake_queue, baking, job, reading
from . import polls
from .refusals import refused


class SINEW_OT_bake_all(bpy.types.Operator):
    bl_idname = "sinew.bake_all"
    bl_label = "Bake All"
    bl_description = "Bake every body of the scene that is not baked yet, one after the other; bodies that others run "
    bl_description += "into come first. Stopped bakes go on. Esc stops all"
    bl_options = set()

    selected: BoolProperty(
        name="Selected Only", description="Only the bodies that are selected", options={"HIDDEN", "SKIP_SAVE"}
    )

    @classmethod
    def description(cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        """The tooltip, which says which bodies are meant."""
        which = "selected body" if properties.selected else "body of the scene"
        return cls.bl_description.replace("body of the scene", which)

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        run = job.current() or reading.current()
        if run is not None or bake_queue.is_at_work():
            cls.poll_message_set(f"“{run.object_name if run else 'A body'}” is at work: stop it first (Esc)")
            return False
        if not context.blend_data.filepath:
            cls.poll_message_set(f"{polls.UNSAVED}: {polls.KEPT}")
            return False
        if context.mode.startswith("EDIT"):
            cls.poll_message_set("Leave Edit Mode first (Tab)")
            return False
        if not bake_queue.unfinished(bake_queue.bodies_of(context.scene)):
            cls.poll_message_set("Every body of the scene is baked")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        bodies = bake_queue.bodies_of(context.scene)
        if self.selected:
            chosen = polls.chosen_bodies(context)
            bodies = [obj for obj in bodies if obj in chosen]
        bodies = bake_queue.unfinished(bodies)
        if not bodies:
            self.report({"INFO"}, "All of them are baked")
            return {"CANCELLED"}
        if bpy.app.background:
            if words := bake_queue.run_here(bodies, context):
                self.report({"ERROR"}, " ".join(words))
                return {"CANCELLED"}
            return {"FINISHED"}
        try:
            bake_queue.start(bodies)
        except RuntimeError as error:
            return refused(self, error)
        for obj in [obj for obj in bodies[:1] if obj.sinew.bake.message and not baking.is_running(obj)]:
            self.report({"WARNING"}, f"“{obj.name}”: {obj.sinew.bake.message}")
        return {"FINISHED"}


CLASSES = (SINEW_OT_bake_all,)
