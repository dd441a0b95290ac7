"""Operators of the list of pairs: contact settings between a body and one other object."""

from typing import Any

from . import polls
from .operator_class import EDITS, list_operators, operator

remove_pair, move_pair = list_operators("pair", "Pair", polls.body_with_pair, " in the list", "")


@operator("Add Pair", polls.body, EDITS)
def add_pair(self: Any, context: Any, obj: Any) -> None:
    """Add contact settings, friction and distance, between the body and one other object, which is chosen below the
    list.
    """
    obj.sinew.pairs.add()
    obj.sinew.active_pair = len(obj.sinew.pairs) - 1
