"""Add a spring, over the vertices that are selected in Edit Mode."""

import bpy

from ..blender_addon import sources, starting
from ..blender_addon.bridge import picks
from ..core.errors import SinewError
from . import polls
from .refusals import refused


class SINEW_OT_add_spring(bpy.types.Operator):
    bl_idname = "sinew.add_spring"
    bl_label = "Add Spring"
    bl_description = (
        "Add a spring, strong enough to hold the body. In Edit Mode it pulls the selected vertices, for which a vertex "
        "group is made"
    )
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return polls.body(cls, context) is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = sources.body_of(context)
        selected = polls.selected_vertices(obj)
        try:
            spring = starting.add_spring(obj, context.scene)
        except SinewError as error:
            return refused(self, error)
        if selected:
            group = obj.vertex_groups.new(name=spring.name)
            spring.vertex_group = group.name
            bpy.ops.object.mode_set(mode="OBJECT")
            picks.change(obj, group, selected, add=True)
            bpy.ops.object.mode_set(mode="EDIT")
        return {"FINISHED"}


CLASSES = (SINEW_OT_add_spring,)
