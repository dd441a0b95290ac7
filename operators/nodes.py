"""The dynamic nodes of a body, whose motion is stepped."""

from typing import Any

from ..blender_addon.picking import proposing
from . import polls
from .operator_class import EDITS, operator


@operator("Propose Nodes", polls.idle_body_outside_edit, EDITS)
def propose_nodes(self: Any, context: Any, obj: Any) -> None:
    """Fill the group of dynamic nodes anew, with as many as the number beside: far from one another and from the pins,
    most of them where the body is soft, one in each stiff part, in pairs where it is symmetric in X.
    """
    group, count = proposing.propose(obj, context)
    self.report({"INFO"}, f"{count} {'node' if count == 1 else 'nodes'} proposed in “{group.name}”")
