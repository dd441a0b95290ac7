"""Operators of the list of pairs: contact settings between a body and one other object."""

from typing import Any

from . import polls
from .operator_class import EDITS, list_operators, operator

remove_pair, move_pair = list_operators("pair", "Pair", polls.body_with_pair, " in the list", "")


@operator("Add Pair", polls.body, EDITS)
def add_pair(self: Any, context: Any, obj: Any) -> None:
    """Add friction and contact distance for the contact between this body and one other object. Choose the other object
    below the list of pairs.
    """
    obj.sinew.pairs.add()
    obj.sinew.active_pair = len(obj.sinew.pairs) - 1
