"""Keep the active physical material as a preset of one's own."""

from dataclasses import replace

import bpy
from bpy.props import StringProperty

from ..blender_addon import item_lists, own_presets, sources
from ..blender_addon.bridge.settings_in import material_settings
from ..core.errors import SinewError
from . import polls
from .refusals import refused


class SINEW_OT_save_preset(bpy.types.Operator):
    bl_idname = "sinew.save_preset"
    bl_label = "Save Material Preset"
    bl_description = (
        "Keep the numbers of the active physical material as a preset of your own, for all files. Where it is, its "
        "maps, regions and depth, stays with the object"
    )
    bl_options = {"REGISTER"}

    name: StringProperty(
        name="Name",
        description="Name of the preset; one of the same name is replaced",
        maxlen=63,
        options={"SKIP_SAVE"},
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return polls.has_material(cls, polls.body(cls, context))

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        self.properties.name = item_lists.active_item(sources.body_of(context).sinew, "material").name
        return context.window_manager.invoke_props_dialog(self)

    def draw(self, context: bpy.types.Context) -> None:
        self.layout.prop(self.properties, "name")
        if own_presets.path_of(self.properties.name.strip()).exists():
            self.layout.label(text="Replaces the preset of that name", icon="INFO")

    def execute(self, context: bpy.types.Context) -> set[str]:
        material = item_lists.active_item(sources.body_of(context).sinew, "material")
        name = self.properties.name.strip() or material.name
        try:
            own_presets.save(replace(material_settings(material), name=name))
        except SinewError as error:
            return refused(self, error)
        self.report({"INFO"}, f"Saved “{name}”")
        return {"FINISHED"}


CLASSES = (SINEW_OT_save_preset,)
