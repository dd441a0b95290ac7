"""Delete a preset of one's own."""

import bpy
from bpy.props import StringProperty

from ..blender_addon import own_presets
from ..core.errors import SinewError
from .refusals import refused


class SINEW_OT_remove_preset(bpy.types.Operator):
    bl_idname = "sinew.remove_preset"
    bl_label = "Remove Material Preset"
    bl_description = "Delete this preset of your own for good; physical materials made from it stay"
    bl_options = {"REGISTER"}

    name: StringProperty(name="Name", description="Name of the preset", options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not own_presets.own_presets().materials:
            cls.poll_message_set("There is no preset of your own")
            return False
        return True

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        return context.window_manager.invoke_confirm(self, event)

    def execute(self, context: bpy.types.Context) -> set[str]:
        name = self.properties.name
        if name not in [material.name for material in own_presets.own_presets().materials]:
            self.report({"ERROR"}, f"There is no preset “{name}” of your own")
            return {"CANCELLED"}
        try:
            own_presets.remove(name)
        except SinewError as error:
            return refused(self, error)
        return {"FINISHED"}


CLASSES = (SINEW_OT_remove_preset,)
