"""The exact stiffness of the active material, in a tooltip and on pressing in the status bar."""

import bpy

from ..blender_addon import item_lists, sources
from ..blender_addon.choices import pascals
from ..blender_addon.mirror import stiffness_of
from . import polls


def _words(context):
    material = item_lists.active_item(sources.body_of(context).sinew, "material")
    return f"Young's modulus of {material.name}: {pascals(stiffness_of(material.log_stiffness))}"


class SINEW_OT_show_stiffness(bpy.types.Operator):
    bl_idname = "sinew.show_stiffness"
    bl_label = "Stiffness in Pascals"
    bl_options = {"INTERNAL"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return polls.has_material(cls, polls.body(cls, context))

    @classmethod
    def description(cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        return _words(context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        self.report({"INFO"}, _words(context))
        return {"FINISHED"}


CLASSES = (SINEW_OT_show_stiffness,)
