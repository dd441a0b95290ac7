"""Operators that enable and disable Sinew, copy settings, and add examples."""

from typing import Any

import bpy
from bpy.props import EnumProperty

from ..blender_addon import examples
from ..blender_addon.bake import baking
from ..blender_addon.objects import duplicate_result, linked
from ..blender_addon.setup import copying, defaults
from . import polls
from .operator_class import EDITS, ask_before_loss, operator


def _can_enable(context: Any) -> None:
    if (source := duplicate_result.source_of(polls.mesh_object(context))) is not None:
        raise polls.PollFailure(f"This object shows the bake of “{source.name}”: select that object")


@operator("Sinew", _can_enable, EDITS)
def enable(self: Any, context: Any, obj: Any) -> None:
    """Simulate this object as an elastic body made of physical materials."""
    defaults.enable(context.object, context)


def _ask_before_removal(self: Any, context: Any, event: Any) -> set[str]:
    return ask_before_loss(self, context, event, [duplicate_result.body_of(context)], "Remove Sinew")


@operator("Remove Sinew", polls.idle_body, {"UNDO"}, keep=True, invoke=_ask_before_removal)
def disable(self: Any, context: Any, obj: Any) -> None:
    """Stop simulating this object. The object's bake is deleted when the file is saved. Physical materials are kept."""
    if obj.mode == "EDIT":
        bpy.ops.object.mode_set(mode="OBJECT")
    baking.delete(obj)
    baking.delete_live(obj)
    obj.sinew.enabled = False


def _can_copy(context: Any) -> None:
    polls.idle_body(context)
    polls.disable_if(not _others(context), "Select the meshes to copy to, besides the active one")


@operator("Copy Settings to Selected", _can_copy, EDITS)
def copy_settings(self: Any, context: Any, obj: Any) -> set[str] | None:
    """Copy the Sinew settings of the active mesh to all other selected meshes: materials and springs (matched by name),
    resolution, collisions, fields, solver, result. Not copied are bakes, keyframes, and settings that name a vertex
    group, modifier or shape key missing in the other mesh.
    """
    copied, left = 0, []
    for other in _others(context):
        if linked.is_linked(other) or duplicate_result.source_of(other) is not None:
            left.append(f"{other.name} (linked, or a bake)")
            continue
        copied += 1
        if missing := copying.copy_settings(obj, other):
            left.append(f"{other.name}: {', '.join(missing)}")
    words = f"Copied to {copied} {'body' if copied == 1 else 'bodies'}"
    if left:
        self.report({"WARNING"}, f"{words}. Left out: {'; '.join(left)}")
    else:
        self.report({"INFO"}, words)
    return None if copied else {"CANCELLED"}


def _others(context: Any) -> list[Any]:
    own = context.object, duplicate_result.body_of(context)
    return [obj for obj in context.selected_objects or () if obj.type == "MESH" and obj not in own]


def _about_example(context: Any, properties: Any) -> str:
    about = examples.EXAMPLES[properties.example].DESCRIPTION
    return f"{about}. It is added in its own collection at the 3D cursor, ready to bake"


@operator(
    "Add Sinew Example",
    polls.in_object_mode,
    EDITS,
    description=_about_example,
    example=EnumProperty(
        name="Example",
        description="Example scene to build at the 3D cursor",
        items=[(name, each.LABEL, each.DESCRIPTION) for name, each in examples.EXAMPLES.items()],
    ),
)
def add_example(self: Any, context: Any, obj: Any) -> None:
    """Add an example scene at the 3D cursor."""
    body = examples.add(self.example, context)
    button = "Bake" if context.blend_data.filepath else "Save and Bake"
    self.report({"INFO"}, f"“{body.name}” is active: press {button} in the Sinew tab of the sidebar (N)")
