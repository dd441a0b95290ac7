"""Move the active spring in the list, its animation with it."""

import bpy
from bpy.props import EnumProperty

from ..blender_addon.bridge.list_animation import follow_items
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
        settings = context.object.sinew
        order = list(range(len(settings.springs)))
        index = min(settings.active_spring, order[-1])
        target = index + (-1 if self.direction == "UP" else 1)
        if not 0 <= target < len(order):
            return {"CANCELLED"}
        settings.springs.move(index, target)
        order.insert(target, order.pop(index))
        follow_items(context.object, "sinew.springs", order)
        settings.active_spring = target
        return {"FINISHED"}


CLASSES = (SINEW_OT_move_spring,)
