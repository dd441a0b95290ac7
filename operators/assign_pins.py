"""Pin what is selected."""

import bpy
from bpy.props import EnumProperty

from ..blender_addon.bridge import picks
from . import polls


class SINEW_OT_assign_pins(bpy.types.Operator):
    bl_idname = "sinew.assign_pins"
    bl_label = "Pin Selected"
    bl_options = {"REGISTER", "UNDO"}

    action: EnumProperty(
        name="Action",
        items=[
            ("ADD", "Pin", "Add the selected vertices to the pin group"),
            ("REMOVE", "Unpin", "Take the selected vertices out of the pin group"),
        ],
    )

    @classmethod
    def description(cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        if properties.action == "ADD":
            return "Add the selected vertices to the pin group, which is made if there is none"
        return "Take the selected vertices out of the pin group"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = polls.body(cls, context)
        if obj is not None and obj.mode != "EDIT":
            cls.poll_message_set("Select vertices in Edit Mode (Tab) first")
            return False
        return obj is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = context.object
        selected = polls.selected_vertices(obj)
        if not selected:
            self.report({"ERROR"}, "No vertex is selected. Select the vertices that are to be held.")
            return {"CANCELLED"}
        group = obj.vertex_groups.get(obj.sinew.pin_group) if obj.sinew.pin_group else None
        if group is None:
            if self.action == "REMOVE":
                self.report({"ERROR"}, "There is no pin group yet. Pin some vertices first.")
                return {"CANCELLED"}
            group = obj.vertex_groups.new(name="Pins")
            obj.sinew.pin_group = group.name
        bpy.ops.object.mode_set(mode="OBJECT")
        picks.change(obj, group, selected, add=self.action == "ADD")
        bpy.ops.object.mode_set(mode="EDIT")
        self.report({"INFO"}, f"{len(selected)} vertices {'pinned' if self.action == 'ADD' else 'unpinned'}")
        return {"FINISHED"}


CLASSES = (SINEW_OT_assign_pins,)
