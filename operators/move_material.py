"""Move the active physical material in the list, its animation with it: the first is where nothing is painted, later
regions and depths win.
"""

import bpy
from bpy.props import EnumProperty

from ..blender_addon import item_lists, sources
from . import polls


class SINEW_OT_move_material(bpy.types.Operator):
    bl_idname = "sinew.move_material"
    bl_label = "Move Physical Material"
    bl_description = (
        "Move the active physical material. The first is where nothing is painted; of regions and depths the later wins"
    )
    bl_options = {"REGISTER", "UNDO"}

    direction: EnumProperty(
        name="Direction",
        description="Which way the active material goes in the list",
        items=[("UP", "Up", "One place up"), ("DOWN", "Down", "One place down")],
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return polls.has_material(cls, polls.body(cls, context))

    def execute(self, context: bpy.types.Context) -> set[str]:
        moved = item_lists.move_active(sources.body_of(context), "material", -1 if self.direction == "UP" else 1)
        return {"FINISHED"} if moved else {"CANCELLED"}


CLASSES = (SINEW_OT_move_material,)
