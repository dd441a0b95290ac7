"""Settings of bone bodies and their joints, part of ``Object.sinew``, and of whole skeletons, ``Armature.sinew``."""

# No ``from __future__ import annotations``: Blender reads the annotations as values.
import math
from typing import Any

import bpy

from ...core.jobs.job.joint import Joint
from .mirror import ANIMATED, collection, integer, menu, mirrored, number, pointer, switch, text, vector

JOINTS = (
    (
        "AUTO",
        "From Bone",
        "Read the bone's IK limits and locks and its Limit Rotation constraints: a hinge if one axis is free, a ball "
        "if two or three are, a weld if none is",
    ),
    ("hinge", "Hinge", "The bone turns about one of its axes, as an elbow or a knee does"),
    ("ball", "Ball", "The bone turns about every axis, as a shoulder or a hip does"),
    ("weld", "Weld", "The bone does not turn against its parent"),
    ("NONE", "None", "The bone moves freely of its parent"),
)
AXES = tuple((axis, axis, f"The {axis} axis of the bone in Edit Mode") for axis in "XYZ")


def _angle(label: str, words: str, default: float, low: float) -> Any:
    bounds = {"default": math.radians(default), "min": math.radians(low), "max": math.pi}
    return number(label, words, subtype="ANGLE", **bounds)


def _follow(label: str, words: str, default: float) -> Any:
    options = {"options": ANIMATED, "default": default, "min": 0.0, "max": 1.0, "subtype": "FACTOR", "precision": 3}
    return number(label, words, **options)


class SinewJoint(bpy.types.PropertyGroup):
    """Joint of a bone body with the body of its parent bone, and its share in the animation of the armature."""

    kind: menu("Joint", "How the bone is joined to the nearest bone above it that has a body", items=JOINTS)
    axis: menu("Axis", "Axis of the bone about which the hinge turns", items=AXES)
    use_limits: switch("Limits", "Limit the rotation of the bone against its parent")
    lower: _angle(
        "Min", "Smallest angle of the hinge from the rest position in Edit Mode, such as 0 degrees", 0.0, -180.0
    )
    upper: _angle(
        "Max", "Largest angle of the hinge from the rest position in Edit Mode, such as 140 degrees", 140.0, -180.0
    )
    cone: _angle(
        "Cone", "Largest angle of the bone from its direction in Edit Mode: shoulder 90 degrees, spine 20", 90.0, 1.0
    )
    lower_twist: _angle(
        "Twist Min",
        "Smallest rotation of the ball about the bone itself (Y) from the rest position in Edit Mode: forearm -90 "
        "degrees",
        -180.0,
        -180.0,
    )
    upper_twist: _angle(
        "Max",
        "Largest rotation of the ball about the bone itself (Y) from the rest position in Edit Mode: forearm 90 "
        "degrees",
        180.0,
        -180.0,
    )
    stiffness: mirrored(Joint, "stiffness", "Stiffness", soft_max=1000.0, precision=2, step=100)
    to_animation: switch(
        "To Animation",
        "Let Stiffness turn the bone to its animated pose against the bone above it instead of to its first pose, so a "
        "ragdoll acts while it falls",
    )
    follow: _follow(
        "This Bone",
        "Factor on Follow of the armature for this bone: 1 follows the animation as the others do, 0 is limp",
        1.0,
    )


class SinewArmature(bpy.types.PropertyGroup):
    """Settings of all bone bodies of an armature. They are keyed apart from the pose, whose action may be a result."""

    follow: _follow(
        "Follow",
        "How firmly the bone bodies follow the animation: 0 ragdoll, 0.25 limp, 0.5 tense, 1 exactly as animated. Key "
        "it to let go of a character, or to take hold of it",
        0.0,
    )


class SinewPoseValue(bpy.types.PropertyGroup):
    """Value of a property of a bone before a bake. Its name is the data path."""

    values: vector("Values", "Components of the value, in its own unit, such as 0", size=4)
    size: integer("Size", "Number of components of the value, 1 to 4", default=1)


class SinewSkeleton(bpy.types.PropertyGroup):
    """Action with the baked motion of an armature's bones, and the animation that it stands in for."""

    result: pointer("Result", "Action with the baked motion of the bones", type=bpy.types.Action)
    animation: pointer("Animation", "Action that moves the armature in a bake", type=bpy.types.Action)
    slot: text("Slot", "Slot of the action that moves the armature in a bake")
    pose: collection("Pose", "Values of the bones without the baked motion", type=SinewPoseValue)


CLASSES = (SinewJoint, SinewArmature, SinewPoseValue, SinewSkeleton)
