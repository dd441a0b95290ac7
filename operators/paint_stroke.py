"""Macro that paints a stroke on a material's map and normalizes all maps, as one undo step.

Blender's Auto Normalize ignores groups without bones. A depsgraph handler would run at every dab of a stroke.
"""

from typing import Any

import bpy

from ..blender_addon.setup import painting
from . import polls
from .operator_class import operator


def _is_painted(context: Any) -> None:
    if not painting.paints_a_map(context.object):
        raise polls.PollFailure


@operator("Normalize Material Maps", _is_painted, {"UNDO"})
def normalize_maps(self: Any, context: Any, obj: Any) -> None:
    """Adjust the maps of painted physical materials so that they sum to one at each vertex; the active map is kept."""
    painting.normalize_maps(context.object)


class SINEW_OT_paint_stroke(bpy.types.Macro):
    bl_idname = "sinew.paint_stroke"
    bl_label = "Paint Physical Material"
    bl_options = {"UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return painting.paints_a_map(context.object) and _holds_a_brush(context)


def _holds_a_brush(context: bpy.types.Context) -> bool:
    """Return True if the active tool is a brush: other tools need the mouse button themselves."""
    tool = context.workspace.tools.from_space_view3d_mode("PAINT_WEIGHT") if context.workspace else None
    return tool is None or tool.idname.startswith(("builtin.brush", "builtin_brush."))
