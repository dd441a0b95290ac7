"""Paint where the active physical material is."""

import bpy
from bpy.props import EnumProperty

from ..blender_addon import item_lists
from . import polls


class SINEW_OT_paint_material(bpy.types.Operator):
    bl_idname = "sinew.paint_material"
    bl_label = "Paint"
    bl_options = {"REGISTER", "UNDO"}

    map: EnumProperty(
        name="Map",
        description="Whether the brush says where the material is, or how stiff it is",
        items=[("PLACE", "Map", "Where the material is"), ("STIFFNESS", "Stiffness Map", "How stiff it is")],
        options={"SKIP_SAVE"},
    )

    @classmethod
    def description(cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        if properties.map == "STIFFNESS":
            return "Paint how stiff this material is, in Weight Paint mode: 0 is the first stiffness, 1 the second"
        return "Paint where this material is, in Weight Paint mode. Each stroke keeps the sum of all materials at one"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = polls.idle_body(cls, context)
        return polls.has_material(cls, obj) and polls.is_active(cls, context, obj)

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = context.object
        material = item_lists.active_item(obj.sinew, "material")
        # First: in Edit Mode no vertex can be given a weight.
        if obj.mode != "WEIGHT_PAINT":
            bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
        owner, name = ("stiffness_map", f"{material.name} Stiffness")
        if self.map == "PLACE":
            owner, name = "vertex_group", material.name
        group = obj.vertex_groups.get(getattr(material, owner)) if getattr(material, owner) else None
        if group is None:
            group = obj.vertex_groups.new(name=name)
            setattr(material, owner, group.name)
            if self.map == "PLACE" and material.is_layer:
                # Until now it covered all of its region or depth: painting takes away from that.
                group.add(range(len(obj.data.vertices)), 1.0, "REPLACE")
        obj.vertex_groups.active_index = group.index
        return {"FINISHED"}


class SINEW_OT_stop_painting(bpy.types.Operator):
    bl_idname = "sinew.stop_painting"
    bl_label = "Stop Painting"
    bl_description = "Back to Object Mode"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return context.object is not None and context.object.mode == "WEIGHT_PAINT"

    def execute(self, context: bpy.types.Context) -> set[str]:
        bpy.ops.object.mode_set(mode="OBJECT")
        return {"FINISHED"}


CLASSES = (SINEW_OT_paint_material, SINEW_OT_stop_painting)
