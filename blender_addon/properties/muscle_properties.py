"""Settings of a muscle: a physical material with fibres, mirrored from the library's settings."""

# No ``from __future__ import annotations``: Blender reads the annotations as values.
from typing import Any

import bpy

from ...core.foundation.schema.muscle_settings import MuscleSettings
from . import choices
from .mirror import ANIMATED, menu, mirrored, number, pointer, switch, text, weights

DIRECTIONS = (
    ("ENDS", "Ends", "Fibres run from the origin to the insertion, two vertex groups on the body's surface"),
    (
        "CURVES",
        "Curve",
        "Fibres follow the splines of a curve, combed hair curves, or a bone. If a curve has a bevel, everything "
        "inside the bevel is of this material, so no region or map is needed",
    ),
)


FOLLOWED = ("CURVE", "CURVES", "ARMATURE")
"""Types of objects that fibres follow: curve, hair curves, armature."""


def _is_curve(self: Any, candidate: Any) -> bool:
    return candidate.type in FOLLOWED


class SinewMuscle(bpy.types.PropertyGroup):
    """Fibres of one physical material, and their activation."""

    enabled: switch("Muscle", "Give this material fibres that contract when they are activated")
    activation: number(
        "Activation",
        "How strongly the muscle contracts, from 0, relaxed, to 1. Key it, or drive it by a bone or a sensor",
        options=ANIMATED,
        default=0.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        precision=3,
    )
    law: mirrored(MuscleSettings, "law", "Law", items=choices.fibre_law_items)
    strength: mirrored(MuscleSettings, "strength", "Strength", soft_max=1e8, precision=0, step=100000)
    shortening: mirrored(MuscleSettings, "shortening", "Shortening", precision=3, subtype="FACTOR")
    passive: mirrored(MuscleSettings, "passive", "Passive", precision=3, subtype="FACTOR")
    stiffening: mirrored(MuscleSettings, "stiffening", "Stiffening", soft_max=10.0, precision=2)
    tendon: mirrored(MuscleSettings, "tendon", "Tendon", precision=3, subtype="FACTOR")
    tendon_stiffness: mirrored(MuscleSettings, "tendon_stiffness", "Tendon Stiffness", soft_max=1e10, precision=0)
    direction: menu("Direction", "Where the fibres of the muscle run", items=DIRECTIONS)
    origin_group: weights("Origin", "Vertex group where the muscle begins, such as the shoulder end of the biceps")
    insertion_group: weights("Insertion", "Vertex group where the muscle ends, such as the elbow end of the biceps")
    curve: pointer(
        "Curve",
        "Curve or hair curves that the fibres follow, from the origin to the insertion, or an armature with the bone",
        type=bpy.types.Object,
        poll=_is_curve,
    )
    bone: text("Bone", "Bone along which the fibres run, from its head to its tail")
    activation_group: weights(
        "Activation Map", "Vertex group whose weights multiply the activation; empty: 1 everywhere"
    )

    @property
    def fills_bevel(self) -> bool:
        """True if everything inside the bevel of the muscle's curve is of its material."""
        is_curved = self.enabled and self.direction == "CURVES" and self.curve is not None
        return is_curved and self.curve.type == "CURVE" and self.curve.data.bevel_depth > 0.0


class SinewStrokePoint(bpy.types.PropertyGroup):
    """Position at which a stroke enters or leaves a body."""

    location: bpy.props.FloatVectorProperty(
        name="Location", description="Position in world space, m: 0 is its origin", size=3, subtype="XYZ"
    )


CLASSES = (SinewMuscle, SinewStrokePoint)
