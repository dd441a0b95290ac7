"""Add a physical material."""

import bpy
from bpy.props import EnumProperty

from ..blender_addon import choices, sources, starting
from ..core.errors import SinewError
from . import polls
from .refusals import refused


class SINEW_OT_add_material(bpy.types.Operator):
    bl_idname = "sinew.add_material"
    bl_label = "Add Physical Material"
    bl_options = {"REGISTER", "UNDO"}

    preset: EnumProperty(
        name="Preset",
        description="What the new material begins as: stiffness in Pa, Poisson's ratio, density in kg/m³",
        items=choices.preset_items,
        default=choices.number_of(starting.FIRST_PRESET),
    )

    @classmethod
    def description(cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        about = next((item[2] for item in choices.preset_items() if item[0] == properties.preset), "")
        return f"Add a physical material: {about}" if about else "Add a physical material"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return polls.body(cls, context) is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            starting.add_material(sources.body_of(context), self.preset)
        except SinewError as error:
            return refused(self, error)
        return {"FINISHED"}


CLASSES = (SINEW_OT_add_material,)
