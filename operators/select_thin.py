"""Show the parts that are thinner than a cell by selecting them."""

import bpy

from ..blender_addon import sources
from ..core.errors import SinewError
from . import polls
from .refusals import refused


class SINEW_OT_select_thin(bpy.types.Operator):
    bl_idname = "sinew.select_thin"
    bl_label = "Select Thin Parts"
    bl_description = (
        "Select the vertices where the body is thinner than a cell, in Edit Mode: fingers, ears, sheets. The draft "
        "lattice can merge neighbours there. Only faces that look away from each other count, so edges do not"
    )
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return polls.is_active(cls, context, polls.idle_body(cls, context))

    def execute(self, context: bpy.types.Context) -> set[str]:
        # Here, since it loads Numba, which Blender's start should not wait for.
        from ..blender_addon.bridge.thin_in import select_vertices, thin_vertices

        obj = sources.body_of(context)
        mode = obj.mode
        if mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        try:
            vertices = thin_vertices(obj, context.scene)
        except SinewError as error:
            bpy.ops.object.mode_set(mode=mode)
            return refused(self, error)
        # Edges are deselected by Blender itself: 5.0 crashes where a script sets their flags.
        context.tool_settings.mesh_select_mode = (True, False, False)
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.mesh.select_all(action="DESELECT")
        bpy.ops.object.mode_set(mode="OBJECT")
        select_vertices(obj.data, vertices)
        bpy.ops.object.mode_set(mode="EDIT")
        cells = obj.sinew.cells_across
        self.report(
            {"INFO"}, f"{len(vertices)} vertices are where the body is thinner than one of {cells} cells across"
        )
        return {"FINISHED"}


CLASSES = (SINEW_OT_select_thin,)
