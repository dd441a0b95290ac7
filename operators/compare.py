"""Operators that compare a bake with a second bake of other settings. The second bake is drawn as a ghost."""

from functools import partial
from typing import Any

from ..blender_addon.bake import comparison
from . import polls
from .operator_class import operator


@operator("Compare", partial(polls.can_begin, kept="baked frames are stored beside the .blend"))
def compare(self: Any, context: Any, obj: Any) -> None:
    """Simulate the body a second time in the background, with the settings of this panel. Show this second bake as a
    ghost over the first, and the distance between the two. Missing frames of the first bake are baked beforehand.
    """
    comparison.begin(obj, context)
    obj.sinew.compare.show = True


def _can_remove(context: Any) -> None:
    obj = polls.not_simulated(polls.body(context))
    polls.disable_if(
        comparison.ghost_folder(obj) is None and not obj.sinew.compare.message, "There is no ghost: press Compare"
    )


@operator("Remove Ghost", _can_remove)
def remove_ghost(self: Any, context: Any, obj: Any) -> None:
    """Remove the ghost and delete its frames from the disk; the bake stays as it is."""
    comparison.remove(obj)
