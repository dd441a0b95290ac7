"""Panel texts about the joint of a bone body."""

from __future__ import annotations

import math
from typing import Any

from ...core.jobs.job.joint import BALL, HINGE
from ..objects.bones import bone_of, joint_partner
from ..scene_import.bones.limits_in import freedom_of


def joint_words(obj: Any) -> str:
    """Describe the joint of a bone body: kind, partner and limits."""
    bone, settings, partner = bone_of(obj), obj.sinew.joint, joint_partner(obj)
    if settings.kind == "NONE" or partner is None:
        above = bone.parent is not None and settings.kind != "NONE"
        return "No bone above this one has a body: it moves freely" if above else "The bone moves freely"
    freedom = freedom_of(bone, settings)
    words = f"{freedom.kind.capitalize()} with “{partner.name}”"
    if freedom.kind == HINGE:
        words += f" about {'XYZ'[freedom.axis]}"
    if freedom.limits is None:
        return words
    low, high = (round(math.degrees(each), 1) for each in freedom.limits)
    return f"{words}, {low:g}° to {high:g}°" if freedom.kind == HINGE else f"{words}, in a cone of {high:g}°"


def drops_twist(obj: Any) -> bool:
    """Return True if the bone of a body limits its twist about its own axis, which its ball joint ignores."""
    bone, settings = bone_of(obj), obj.sinew.joint
    is_ball = settings.kind == "AUTO" and freedom_of(bone, settings).kind == BALL
    return is_ball and (bone.lock_ik_y or bone.use_ik_limit_y)
