"""Operators of the list of springs."""

from typing import Any

import bpy

from ..blender_addon.scene_import import picks
from ..blender_addon.setup import defaults
from . import polls
from .operator_class import EDITS, list_operators, operator

remove_spring, move_spring = list_operators("spring", "Spring", polls.body_with_spring, " in the list")


@operator("Add Spring", polls.body, EDITS)
def add_spring(self: Any, context: Any, obj: Any) -> None:
    """Add a spring strong enough to carry the body. In Edit Mode it pulls the selected vertices, in a new vertex
    group.
    """
    selected = polls.selected_vertices(obj)
    spring = defaults.add_spring(obj, context.scene)
    if selected:
        group = obj.vertex_groups.new(name=spring.name)
        spring.vertex_group = group.name
        bpy.ops.object.mode_set(mode="OBJECT")
        picks.change(obj, group, selected, add=True)
        bpy.ops.object.mode_set(mode="EDIT")
