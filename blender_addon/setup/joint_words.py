"""Panel texts about the joint of a bone body."""

from __future__ import annotations

import math
from typing import Any

from ...core.jobs.job.joint import HINGE
from ..objects.bones import bone_of, joint_partner
from ..scene_import.bones.limits_in import freedom_of
from ..translations.translate import translated


def joint_words(obj: Any) -> str:
    """Describe the joint of a bone body: kind, partner and limits."""
    bone, settings, partner = bone_of(obj), obj.sinew.joint, joint_partner(obj)
    if settings.kind == "NONE" or partner is None:
        above = bone.parent is not None and settings.kind != "NONE"
        return translated("No bone above this one has a body: it moves freely" if above else "The bone moves freely")
    freedom = freedom_of(bone, settings)
    words = translated("{kind} with “{name}”", kind=translated(freedom.kind.capitalize()), name=partner.name)
    if freedom.kind == HINGE:
        words += translated(" about {axis}", axis="XYZ"[freedom.axis])
    if freedom.limits is not None:
        low, high = _degrees(freedom.limits)
        words += (
            translated(", {low} to {high}", low=low, high=high)
            if freedom.kind == HINGE
            else translated(", in a cone of {high}", high=high)
        )
    if freedom.twist is not None:
        low, high = _degrees(freedom.twist)
        words += translated(", twist {low} to {high}", low=low, high=high)
    return words


def _degrees(angles: tuple[float, float]) -> tuple[str, ...]:
    return tuple(f"{round(math.degrees(each), 1):g}°" for each in angles)
