"""Add a scene to begin with."""

import bpy
from bpy.props import EnumProperty

from ..blender_addon import examples
from . import polls


class SINEW_OT_add_example(bpy.types.Operator):
    bl_idname = "sinew.add_example"
    bl_label = "Add Sinew Example"
    bl_options = {"REGISTER", "UNDO"}

    example: EnumProperty(
        name="Example",
        description="Which scene is built at the 3D cursor",
        items=[(name, each.LABEL, each.DESCRIPTION) for name, each in examples.EXAMPLES.items()],
    )

    @classmethod
    def description(cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        about = examples.EXAMPLES[properties.example].DESCRIPTION
        return f"{about}. Comes in a collection of its own, at the 3D cursor, ready to Bake"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return polls.in_object_mode(cls, context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        body = examples.add(self.example, context)
        button = "Bake" if context.blend_data.filepath else "Save and Bake"
        self.report({"INFO"}, f"Press {button} in the sidebar's tab Sinew (N): “{body.name}” is active")
        return {"FINISHED"}


CLASSES = (SINEW_OT_add_example,)
