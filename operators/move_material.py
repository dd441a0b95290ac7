"""Move the active physical material in the list: the first is where nothing is painted, later regions win."""

import bpy
from bpy.props import EnumProperty

from . import polls


class SINEW_OT_move_material(bpy.types.Operator):
    bl_idname = "sinew.move_material"
    bl_label = "Move Physical Material"
    bl_description = "Move the active physical material. The first is where nothing is painted; later regions win"
    bl_options = {"REGISTER", "UNDO"}

    direction: EnumProperty(name="Direction", items=[("UP", "Up", ""), ("DOWN", "Down", "")])

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return polls.has_material(cls, polls.body(cls, context))

    def execute(self, context: bpy.types.Context) -> set[str]:
        settings = context.object.sinew
        target = settings.active_material + (-1 if self.direction == "UP" else 1)
        if not 0 <= target < len(settings.materials):
            return {"CANCELLED"}
        settings.materials.move(settings.active_material, target)
        settings.active_material = target
        return {"FINISHED"}


CLASSES = (SINEW_OT_move_material,)
