"""Move the active spring in the list, its animation with it."""

import bpy
from bpy.props import EnumProperty

from ..blender_addon import item_lists, sources
from . import polls


class SINEW_OT_move_spring(bpy.types.Operator):
    bl_idname = "sinew.move_spring"
    bl_label = "Move Spring"
    bl_description = "Move the active spring in the list"
    bl_options = {"REGISTER", "UNDO"}

    direction: EnumProperty(
        name="Direction",
        description="Which way the active spring goes in the list",
        items=[("UP", "Up", "One place up"), ("DOWN", "Down", "One place down")],
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return polls.has_spring(cls, polls.body(cls, context))

    def execute(self, context: bpy.types.Context) -> set[str]:
        moved = item_lists.move_active(sources.body_of(context), "spring", -1 if self.direction == "UP" else 1)
        return {"FINISHED"} if moved else {"CANCELLED"}


CLASSES = (SINEW_OT_move_spring,)
