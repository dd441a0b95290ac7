"""Hand of flesh on bones. An armature closes the hand around a soft ball."""

from __future__ import annotations

import math
from typing import Any

import bmesh
import numpy as np

from .rig import Bones, add_armature, follow
from .shapes import ball, limb
from .stage import Stage

LABEL = "Hand That Squeezes"
DESCRIPTION = "Soft flesh on stiff bones that an armature moves: fingers close around a soft ball"
FLESH, IVORY, TOY, CLOTH = (0.80, 0.46, 0.36), (0.9, 0.86, 0.74), (0.10, 0.32, 0.62), (0.16, 0.18, 0.24)
VOXEL = 0.007
SOFT, STIFF, BALL = 5e4, 1e9, 2e4
"""Young's moduli of flesh, bones and ball, Pa."""
RADIUS, HIGH = 0.055, 0.1
"""Radius of the ball, and height of the hand above the floor, m."""
DIGITS = {
    "Index": ((0.07, -0.075, 0.0), -16.0, 0.085, 0.07, 0.026),
    "Middle": ((0.085, 0.0, 0.0), 0.0, 0.09, 0.075, 0.027),
    "Ring": ((0.07, 0.075, 0.0), 16.0, 0.085, 0.07, 0.026),
    "Thumb": ((-0.02, -0.075, 0.0), -75.0, 0.075, 0.06, 0.028),
}
"""Each finger's origin, m; direction, degrees from X to Y; lengths of its two bones, m; and radius, m."""
BEND = {"Index": (72, 72), "Middle": (65, 67), "Ring": (72, 72), "Thumb": (74, 54)}
"""Rotations of each finger's two bones in the closed hand, degrees."""
SECONDS = 2.0


def build(stage: Stage) -> Any:
    """Build the open hand, palm up, with the ball on it. Returns the hand."""
    bones = _bones()
    hand = stage.add("Hand", _hand(stage, bones))
    hand.location = (0.0, 0.0, HIGH)
    armature = add_armature(stage, bones)
    armature.location = hand.location
    follow(stage, hand, armature, bones)
    inner = np.zeros(len(hand.data.vertices))
    for face in hand.data.polygons:
        if face.material_index == 1:
            inner[list(face.vertices)] = 1.0
    settings = stage.body(hand, SECONDS, 22)
    settings.collisions.self_contact = True
    settings.pin_group = stage.group(hand, "Bones", inner)
    stage.material(hand, "Soft Flesh", SOFT, 1.0 - inner)
    stage.material(hand, "Bone", STIFF, inner)
    toy = stage.add("Ball", stage.mesh("Ball", [ball((0.0, 0.0, 0.0), RADIUS, 48)], stage.shader("Ball", TOY, 0.3)))
    toy.location = (0.005, 0.0, HIGH + RADIUS + 0.038)
    stage.body(toy, SECONDS, 6)
    stage.material(toy, "Silicone", BALL)
    stage.floor(0.4, (0.33, 0.34, 0.38))
    cuff = limb((-0.24, 0.0, 0.0), (-0.13, 0.0, 0.0), 0.058, 0.062, 32)
    cuff = stage.add("Cuff", stage.mesh("Cuff", [cuff], stage.shader("Cloth", CLOTH, 0.8), smooth=False))
    cuff.location = hand.location
    for body in (hand, toy):
        body.sinew.max_iterations = 100
        body.sinew.collisions.contact_friction = 0.8
    _close(stage, armature)
    return hand


def _bones() -> Bones:
    bones: Bones = {"Wrist": ((-0.14, 0.0, 0.0), (-0.05, 0.0, 0.0), None)}
    for name, (base, degrees, first, second, _radius) in DIGITS.items():
        direction = np.array([math.cos(math.radians(degrees)), math.sin(math.radians(degrees)), 0.0])
        joint = np.array(base) + first * direction
        bones[f"{name} 1"] = (tuple(base), tuple(joint), "Wrist")
        bones[f"{name} 2"] = (tuple(joint), tuple(joint + second * direction), f"{name} 1")
    return bones


def _hand(stage: Stage, bones: Bones) -> Any:
    """Return a mesh of the hand's skin and the bones inside."""
    parts = [
        ball((0.0, 0.0, 0.0), (0.1, 0.108, 0.034), 48),
        ball((-0.065, 0.0, 0.015), (0.04, 0.075, 0.034), 32),
        limb((-0.06, 0.0, 0.0), (-0.16, 0.0, 0.0), 0.05, 0.042),
    ]
    for name, (base, _degrees, _first, _second, radius) in DIGITS.items():
        middle, end = bones[f"{name} 1"][1], bones[f"{name} 2"][1]
        parts += [limb(base, middle, radius, radius), limb(middle, end, radius, 0.85 * radius)]
        parts += [ball(base, radius), ball(middle, radius), ball(end, 0.85 * radius)]
    skin = stage.one_skin(stage.mesh("Hand", parts, stage.shader("Flesh", FLESH, 0.45)), VOXEL, 6)
    skin.materials.append(stage.shader("Bone", IVORY, 0.4))
    shape = bmesh.new()
    shape.from_mesh(skin)
    flesh = len(shape.faces)
    for head, tail, _parent in bones.values():
        a, b = np.array(head), np.array(tail)
        limb(a + 0.12 * (b - a), b - 0.12 * (b - a), 0.007, 0.006, 8)(shape)
    shape.faces.ensure_lookup_table()
    for face in shape.faces[flesh:]:
        face.material_index = 1
    shape.to_mesh(skin)
    shape.free()
    return skin


def _close(stage: Stage, armature: Any) -> None:
    """Animate the fingers: close, loosen the grip, and close again."""
    for name, bends in BEND.items():
        for k, bend in enumerate(bends, start=1):
            bone = armature.pose.bones[f"{name} {k}"]
            keys = ((0.0, 0.0), (0.2, 0.0), (1.1, 1.0), (1.2, 1.0), (1.5, 0.75), (1.9, 1.0))
            stage.key(bone, "rotation_euler", *((t, (math.radians(part * bend), 0.0, 0.0)) for t, part in keys))
