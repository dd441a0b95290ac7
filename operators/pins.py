"""Operators that pin vertices, assign them to the active spring, or make them dynamic nodes.

Dynamic nodes are the vertices whose motion the ConJac solvers integrate in time. The rest of the body follows
quasistatically.
"""

from typing import Any

import bpy
from bpy.props import EnumProperty

from ..blender_addon.picking import proposing
from ..blender_addon.scene_import import picks
from ..blender_addon.setup import defaults
from ..blender_addon.translations.translate import marked, translated
from . import polls
from .operator_class import EDITS, operator, refused

WHOSE = {
    "PINS": marked("pin group"),
    "SPRING": marked("active spring's vertex group"),
    "NODES": marked("group of dynamic nodes"),
}
WHOSE |= {
    "ORIGIN": marked("origin of the active material's muscle"),
    "INSERTION": marked("insertion of the active material's muscle"),
}
"""Name of the vertex group of each target, for tooltips. The keys are those of ``picks.TARGETS``."""


def changed_words(count: int, add: bool, name: str) -> str:
    """Return a report on the number of vertices that were added to the vertex group ``name``, or removed."""
    words = marked("{count} added to “{name}”" if add else "{count} removed from “{name}”")
    return translated(words, count=count, name=name)


def _about_assigning(context: Any, properties: Any) -> str:
    whose = WHOSE[properties.target]
    if properties.action == "ADD":
        return translated(
            "Add the selected vertices to the {whose}, which is created if necessary", whose=translated(whose)
        )
    return translated("Remove the selected vertices from the {whose}", whose=translated(whose))


@operator(
    "Pin Selected",
    polls.body_in_edit_mode,
    EDITS,
    description=_about_assigning,
    action=EnumProperty(
        name="Action",
        description="Add or remove the selected vertices",
        items=[
            ("ADD", "Pin", "Add the selected vertices to the pin group"),
            ("REMOVE", "Unpin", "Remove the selected vertices from the pin group"),
        ],
    ),
    target=EnumProperty(
        name="For", description="Vertex group that is changed", items=picks.TARGETS, options={"SKIP_SAVE"}
    ),
)
def assign_pins(self: Any, context: Any, obj: Any) -> set[str] | None:
    """Add the selected vertices to a vertex group, or remove them from it. The group is that of the pins, of the active
    spring, or of the dynamic nodes.
    """
    selected, add = polls.selected_vertices(obj), self.action == "ADD"
    if not selected:
        return refused(self, "No vertex is selected. Select some first.")
    bpy.ops.object.mode_set(mode="OBJECT")
    try:
        group = picks.group_of(obj, self.target, make=add)
        if group is not None:
            picks.change(obj, group, selected, add)
    finally:
        bpy.ops.object.mode_set(mode="EDIT")
    if group is None:
        return refused(self, "There is no vertex group yet. Add some vertices first.")
    defaults.refit_stiffness(obj, context)
    self.report({"INFO"}, changed_words(len(selected), add, group.name))
    if obj.sinew.pick_warning:
        self.report({"WARNING"}, obj.sinew.pick_warning)
    return None


def _has_pins(context: Any) -> None:
    obj = polls.body_in_edit_mode(context)
    polls.disable_if(obj.sinew.pin_group not in obj.vertex_groups, "Choose a pin group first")


@operator("Select Pins", _has_pins, EDITS)
def select_pins(self: Any, context: Any, obj: Any) -> None:
    """Select the vertices of the pin group."""
    obj.vertex_groups.active = obj.vertex_groups[obj.sinew.pin_group]
    bpy.ops.object.vertex_group_select()


def _can_propose(context: Any) -> None:
    polls.with_own_mesh(polls.idle_body_outside_edit(context))


@operator("Propose Nodes", _can_propose, EDITS)
def propose_nodes(self: Any, context: Any, obj: Any) -> None:
    """Replace the dynamic nodes by proposed ones, as many as the number beside the button. They are far from one
    another and from the pins, mostly in soft regions; each stiff part without pins gets one. They are mirrored in X if
    the body is symmetric.
    """
    group, count = proposing.propose(obj, context)
    self.report(
        {"INFO"},
        translated(
            "{count} node proposed in “{name}”" if count == 1 else "{count} nodes proposed in “{name}”",
            count=count,
            name=group.name,
        ),
    )
