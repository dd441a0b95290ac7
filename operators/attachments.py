"""Operators of the lists of springs, pairs and ties, which attach a body to other objects, and of its cuts."""

from typing import Any

import bpy

from ..blender_addon.cuts import splitting
from ..blender_addon.scene_import import picks
from ..blender_addon.setup import defaults
from ..blender_addon.translations.translate import translated
from . import polls
from .operator_class import EDITS, list_operators, operator

remove_spring, move_spring = list_operators("spring", "Spring", polls.body_with_spring, " in the list")
remove_pair, move_pair = list_operators("pair", "Pair", polls.body_with_pair, " in the list", "")
remove_tie, move_tie = list_operators("tie", "Tie", polls.body_with_tie, " in the list", "")


@operator("Add Pair", polls.body, EDITS)
def add_pair(self: Any, context: Any, obj: Any) -> None:
    """Add friction and contact distance for the contact between this body and one other object. Choose the other object
    below the list of pairs.
    """
    obj.sinew.pairs.add()
    obj.sinew.active_pair = len(obj.sinew.pairs) - 1


@operator("Add Tie", polls.body, EDITS)
def add_tie(self: Any, context: Any, obj: Any) -> None:
    """Hold this body to one other body or mesh, where the two are near each other at rest: to the selected mesh, or
    choose it below the list of ties.
    """
    tie = obj.sinew.ties.add()
    others = [each for each in context.selected_objects if each != obj and each.type == "MESH"]
    tie.other = others[0] if len(others) == 1 else None
    obj.sinew.active_tie = len(obj.sinew.ties) - 1


def _can_split(context: Any) -> Any:
    obj = polls.with_own_mesh(polls.idle_body_outside_edit(context))
    polls.disable_if(obj.sinew.bake.status != "NONE", "The bake shows the mesh as it is: press Delete Bake first")
    return obj


def _can_restore(context: Any) -> None:
    polls.disable_if(_can_split(context).sinew.cuts.original is None, "The mesh is not split")


@operator("Split Mesh", _can_split, EDITS)
def split_mesh(self: Any, context: Any, obj: Any) -> None:
    """Split the mesh along everything that the cutters sweep and along the tear, into pieces that hold together until
    they are cut or tear. Restore Mesh takes it back.
    """
    found = splitting.split(obj, context)
    words = translated(
        "{count} pieces, with {faces} faces along their seams",
        count=found.count,
        faces=int(found.seam_faces.sum()) // 2,
    )
    if found.slivers:
        words += translated("; {slivers} slivers joined to their neighbours", slivers=found.slivers)
    if missed := splitting.missed_words(obj, found):
        self.report({"WARNING"}, f"{words}. {missed}")
    else:
        self.report({"INFO"}, words)


@operator("Restore Mesh", _can_restore, EDITS)
def restore_mesh(self: Any, context: Any, obj: Any) -> None:
    """Take back the split. Edits of the split mesh since then, such as painted weights, are lost."""
    splitting.restore(obj)


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
