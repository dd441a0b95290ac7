"""Operators that apply recommended settings."""

from typing import Any

from bpy.props import EnumProperty

from ..blender_addon.live import live
from ..blender_addon.objects import duplicate_result
from ..blender_addon.picking import proposing
from ..blender_addon.properties import choices
from ..blender_addon.setup import recommendations
from ..blender_addon.translations.translate import translated
from . import polls
from .operator_class import EDITS, operator


def _is_advised(context: Any) -> None:
    obj = polls.idle_body(context)
    if not recommendations.advice_of(obj, context.scene):
        known = recommendations.is_known(obj)
        raise polls.PollFailure("All settings suit the body" if known else "Press Tetrahedralize first (Resolution)")


@operator(
    "Take Advice",
    _is_advised,
    EDITS,
    setting=EnumProperty(
        name="Setting",
        description="Setting that the advice is about",
        items=[(name, label, f"Set {label} as advised") for name, label in recommendations.LABELS.items()],
        options={"SKIP_SAVE"},
    ),
)
def take_advice(self: Any, context: Any, obj: Any) -> set[str] | None:
    """Change the setting on this button to the recommended value, which depends on the body's tetrahedra. If a
    recommended solver needs dynamic nodes (vertices that carry the motion) and the body has none, some are proposed.
    """
    for each in recommendations.advice_of(obj, context.scene):
        if each.setting == self.setting:
            setattr(obj.sinew, each.setting, each.value)
            if choices.solver_kind(obj.sinew.solver).takes_nodes and obj.mode != "EDIT" and proposing.node_words(obj):
                proposing.propose(obj, context)
            return None
    self.report(
        {"INFO"}, translated("{label} suits the body already", label=translated(recommendations.LABELS[self.setting]))
    )
    return {"CANCELLED"}


def _has_too_few(context: Any) -> None:
    session = live.current()
    own = session is not None and session is live.session_of(duplicate_result.body_of(context))
    obj = polls.body(context) if own else polls.idle_body(context)
    polls.disable_if(
        not obj.sinew.bake.points_that_suffice,
        "No bake or live mode has found that the body needs more cubature points",
    )
    polls.disable_if(
        own and (session.state.recording or not session.state.ready),
        "Wait until live mode is ready and not recording",
    )


@operator("Use More Cubature Points", _has_too_few, EDITS)
def use_points(self: Any, context: Any, obj: Any) -> None:
    """Set Cubature Points to a sufficient number; with fewer points, some motions of the body are too soft. Live mode
    restarts.
    """
    obj.sinew.cubature_points = obj.sinew.bake.points_that_suffice
    if (session := live.session_of(obj)) is not None:
        session.reset_is_due = (
            True  # its timer resets it: reading the scene changes frames, which this undo step should not contain
        )
    obj.sinew.bake.points_that_suffice, obj.sinew.bake.points_warning = 0, ""
