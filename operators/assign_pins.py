"""Pin what is selected, or have the active spring pull it."""

import bpy
from bpy.props import EnumProperty

from ..blender_addon import sources
from ..blender_addon.bridge import picks
from ..core.errors import SinewError
from . import polls
from .refusals import refused


class SINEW_OT_assign_pins(bpy.types.Operator):
    bl_idname = "sinew.assign_pins"
    bl_label = "Pin Selected"
    bl_options = {"REGISTER", "UNDO"}

    action: EnumProperty(
        name="Action",
        description="Whether the selected vertices are added or taken out",
        items=[
            ("ADD", "Pin", "Add the selected vertices to the pin group"),
            ("REMOVE", "Unpin", "Take the selected vertices out of the pin group"),
        ],
    )
    target: EnumProperty(
        name="For", description="Whose vertex group is changed", items=picks.TARGETS, options={"SKIP_SAVE"}
    )

    @classmethod
    def description(cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        whose = "pin group" if properties.target == "PINS" else "active spring's vertex group"
        if properties.action == "ADD":
            return f"Add the selected vertices to the {whose}, which is made if there is none"
        return f"Take the selected vertices out of the {whose}"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return polls.body_in_edit_mode(cls, context) is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = sources.body_of(context)
        selected = polls.selected_vertices(obj)
        if not selected:
            self.report({"ERROR"}, "No vertex is selected. Select the vertices that are to be held.")
            return {"CANCELLED"}
        try:
            group = picks.group_of(obj, self.target, make=self.action == "ADD")
        except SinewError as error:
            return refused(self, error)
        if group is None:
            self.report({"ERROR"}, "There is no vertex group yet. Add some vertices first.")
            return {"CANCELLED"}
        bpy.ops.object.mode_set(mode="OBJECT")
        picks.change(obj, group, selected, add=self.action == "ADD")
        bpy.ops.object.mode_set(mode="EDIT")
        done = "added to" if self.action == "ADD" else "taken out of"
        self.report({"INFO"}, f"{len(selected)} vertices {done} “{group.name}”")
        if obj.sinew.pick_warning:
            self.report({"WARNING"}, obj.sinew.pick_warning)
        return {"FINISHED"}


CLASSES = (SINEW_OT_assign_pins,)
