"""Operators of the lists of pairs and ties: contact settings and ties between a body and one other object."""

from typing import Any

from . import polls
from .operator_class import EDITS, list_operators, operator

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
