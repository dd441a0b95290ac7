"""One weight paint stroke on a material's map, and the maps made to sum to one after it, as a single undo step.

Blender's Auto Normalize leaves out groups without bones, and a depsgraph handler fires at every dab of a stroke:
hence a macro, on a key that acts only while one of our maps is painted.
"""

import bpy

from ..blender_addon.bridge import painting


class SINEW_OT_normalize_maps(bpy.types.Operator):
    bl_idname = "sinew.normalize_maps"
    bl_label = "Normalize Material Maps"
    bl_description = "Make the maps of all physical materials sum to one at each vertex; the active map is kept"
    bl_options = {"UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return painting.paints_a_map(context.object)

    def execute(self, context: bpy.types.Context) -> set[str]:
        painting.normalize_maps(context.object)
        return {"FINISHED"}


class SINEW_OT_paint_stroke(bpy.types.Macro):
    bl_idname = "sinew.paint_stroke"
    bl_label = "Paint Physical Material"
    bl_options = {"UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return painting.paints_a_map(context.object) and _holds_a_brush(context)


def _holds_a_brush(context: bpy.types.Context) -> bool:
    """Keys of the mode go before those of its tools: the gradient and the samplers are left to Blender."""
    tool = context.workspace.tools.from_space_view3d_mode("PAINT_WEIGHT") if context.workspace else None
    return tool is None or tool.idname.startswith(("builtin.brush", "builtin_brush."))


CLASSES = (SINEW_OT_normalize_maps, SINEW_OT_paint_stroke)
