"""Give the active physical material the numbers of a preset."""

import bpy
from bpy.props import EnumProperty

from ..blender_addon import choices, item_lists, sources, starting
from ..blender_addon.bridge.list_animation import animated
from ..core.errors import SinewError
from . import polls
from .refusals import refused

KEYED = {"log_stiffness": "Stiffness", "log_painted_stiffness": "Where Painted"}
"""Numbers of a material that can be animated."""


class SINEW_OT_apply_preset(bpy.types.Operator):
    bl_idname = "sinew.apply_preset"
    bl_label = "Apply Material Preset"
    bl_options = {"REGISTER", "UNDO"}

    preset: EnumProperty(
        name="Preset",
        description="What the active physical material becomes: stiffness in Pa, Poisson's ratio, density in kg/m³, "
        "energy, painted range",
        items=choices.preset_items,
        default=choices.number_of(starting.FIRST_PRESET),
    )

    @classmethod
    def description(cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        about = next((f": {item[2]}" for item in choices.preset_items() if item[0] == properties.preset), "")
        return (
            f"Give the active physical material the numbers of this preset{about}. Its name, maps, regions, depth and "
            "keys stay"
        )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return polls.has_material(cls, polls.body(cls, context))

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = sources.body_of(context)
        material = item_lists.active_item(obj.sinew, "material")
        try:
            starting.fill_material(material, starting.preset_settings(self.preset))
        except SinewError as error:
            return refused(self, error)
        keyed = animated(obj, f"sinew.materials[{item_lists.active_index(obj.sinew, 'material')}]")
        if not material.use_range:
            keyed.discard("log_painted_stiffness")
        if words := " and ".join(label for name, label in KEYED.items() if name in keyed):
            self.report({"WARNING"}, f"{words} of “{material.name}” is animated: its keys go on, whatever was applied")
        return {"FINISHED"}


CLASSES = (SINEW_OT_apply_preset,)
