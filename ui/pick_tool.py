"""Pick tool of the 3D View's toolbar, for the vertices of pins, springs and dynamic nodes.

Dynamic nodes are the vertices whose motion the ConJac solvers integrate in time. The rest of the body follows
quasistatically.
"""

from typing import Any

import bpy

from ..blender_addon.blend_data import item_lists
from ..blender_addon.objects import duplicate_result
from ..blender_addon.picking import picking_view
from .panel_base import Subject


class PickTool(bpy.types.WorkSpaceTool):
    bl_space_type = "VIEW_3D"
    bl_context_mode = "OBJECT"
    bl_idname = picking_view.TOOL
    bl_label = "Pick Vertices"
    bl_description = (
        "Pick vertices of the active body as pins, as targets of a spring, or as dynamic nodes.\n"
        "Click: add or remove. Drag a box: add; with Ctrl: remove"
    )
    bl_icon = "ops.paint.eyedropper_add"
    bl_cursor = "CROSSHAIR"
    bl_keymap = (
        ("sinew.pick", {"type": "LEFTMOUSE", "value": "PRESS"}, None),
        ("sinew.pick", {"type": "LEFTMOUSE", "value": "PRESS", "ctrl": True}, None),
        # Ordinary selection if the active object is not a body.
        ("view3d.select", {"type": "LEFTMOUSE", "value": "CLICK"}, None),
    )

    @staticmethod
    def draw_settings(context: Any, layout: Any, tool: Any) -> None:
        """Draw the tool's settings in the header of the view."""
        if not Subject.poll(context):
            layout.label(text="Select a mesh with Sinew enabled", icon="INFO")
            return
        settings = duplicate_result.body_of(context).sinew
        layout.prop(tool.operator_properties("sinew.pick"), "target", text="")
        if tool.operator_properties("sinew.pick").target == "SPRING":
            spring = item_lists.active_item(settings, "spring")
            layout.label(text="Add a spring first" if spring is None else spring.name, translate=spring is None)
        layout.prop(duplicate_result.body_of(context).data, "use_mirror_x", text="X", toggle=True, icon="MOD_MIRROR")


def register() -> None:
    """Add the tool to the toolbar."""
    bpy.utils.register_tool(PickTool, separator=True)


def unregister() -> None:
    """Remove the tool. Views that use the tool get Blender's default tool."""
    for window in bpy.context.window_manager.windows:
        for area in (area for area in window.screen.areas if area.type == "VIEW_3D"):
            with bpy.context.temp_override(window=window, area=area):
                if picking_view.tool_is_chosen(bpy.context):
                    bpy.ops.wm.tool_set_by_id(name="builtin.select_box")
    bpy.utils.unregister_tool(PickTool)
