"""Puppet's head whose soft lips press each other flat, because the jaw closes beyond first contact."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..scene_import.mesh_in import vertex_positions
from .rig import add_armature, follow
from .shapes import SIDES, ball, limb
from .stage import Stage

LABEL = "Lips That Close"
DESCRIPTION = "A head whose armature closes its mouth: soft lips touch and flatten each other"
SKIN, LIP, WHITE, BLACK = (0.72, 0.42, 0.30), (0.62, 0.06, 0.09), (0.9, 0.9, 0.88), (0.01, 0.01, 0.012)
WOOD, HIGH = (0.30, 0.20, 0.13), 0.06
"""Colour of the stand, and height of the head on the stand, m."""
VOXEL = 0.0055
FLESH, SOFT = 1.5e5, 1e4
"""Young's moduli of the head and its lips, Pa."""
BONES = {
    "Skull": ((0.0, 0.10, 0.17), (0.0, 0.02, 0.38), None),
    "Jaw": ((0.0, 0.10, 0.15), (0.0, -0.06, 0.06), None),
}
UPPER, LOWER = (-0.075, 0.215), (-0.08, 0.108)
"""Y and z coordinates of the middle of each lip, m."""
LIP_THICK, WIDE = 0.03, 0.1
EYES = [(0.055 * side, -0.085, 0.355) for side in SIDES]


def _lip(middle: tuple[float, float]) -> list[tuple[float, float, float]]:
    """Return points (x, y, z), m, on the arc of a lip. ``middle``: y and z coordinates of the middle of the arc, m."""
    y, z = middle
    return [(WIDE * math.sin(t), y + 0.09 * (1.0 - math.cos(t)), z) for t in np.linspace(-1.25, 1.25, 25)]


LIPS = np.array(_lip(UPPER) + _lip(LOWER))
PARTS = [
    ball((0.0, 0.03, 0.3), (0.135, 0.13, 0.125), 48),
    ball((0.0, 0.02, 0.07), (0.115, 0.11, 0.05), 48),
    ball((0.0, 0.11, 0.17), (0.085, 0.045, 0.1), 32),
    ball((0.0, -0.105, 0.29), 0.03),
    *(ball(point, LIP_THICK) for point in LIPS),
]
"""Shapes of the head, facing -Y."""


def build(stage: Stage) -> Any:
    """Build the head with its animated armature. Returns the head."""
    shaders = stage.shader("Skin", SKIN, 0.5), stage.shader("Lips", LIP, 0.25)
    head = stage.add("Head", stage.one_skin(stage.mesh("Head", PARTS, *shaders), VOXEL, 8))
    armature = add_armature(stage, BONES)
    follow(stage, head, armature, BONES)
    points = vertex_positions(head.data)
    lips = np.linalg.norm(points[:, None] - LIPS, axis=2).min(axis=1)
    for face in head.data.polygons:
        face.material_index = int(np.linalg.norm(LIPS - face.center, axis=1).min() < LIP_THICK + 0.002)
    for name, colour, radius, ahead in (("Eyes", WHITE, 0.04, 0.0), ("Pupils", BLACK, 0.015, 0.03)):
        balls = [ball((x, y - ahead, z), radius, 32) for x, y, z in EYES]
        stage.add(name, stage.mesh(name, balls, stage.shader(name, colour, 0.1))).location = (0.0, 0.0, HIGH)
    for each in (head, armature):
        each.location = (0.0, 0.0, HIGH)
    pole = limb((0.0, 0.12, 0.0), (0.0, 0.12, HIGH + 0.12), 0.06, 0.04)
    stage.add("Stand", stage.mesh("Stand", [pole], stage.shader("Wood", WOOD, 0.6)))
    stage.floor(0.4, (0.33, 0.34, 0.38))
    settings = stage.body(head, 2.5, 10)
    _x, y, z = points.T
    held = (lips > 0.045) & ((z > 0.32) | (z < 0.07) | (y > 0.1))
    settings.pin_group = stage.group(head, "Pins", held.astype(float))
    soft = np.round(np.clip((0.045 - lips) / 0.02, 0.0, 1.0), 2)
    stage.material(head, "Soft Flesh", FLESH, 1.0 - soft)
    stage.material(head, "Fat", SOFT, soft)
    settings.refine_group = stage.group(head, "Refine", (lips < 0.035).astype(float))
    settings.max_iterations = 100
    settings.collisions.self_contact = True
    _chew(stage, armature.pose.bones["Jaw"])
    return head


def _chew(stage: Stage, jaw: Any) -> None:
    """Animate the jaw: close hard, rub sideways, open, and close again."""
    turns = (
        (0.0, 0, 0), (0.15, 0, 0), (0.7, 29, 0), (0.9, 29, 0), (1.15, 29, 5), (1.4, 29, -5), (1.6, 29, 0), (2.0, -4, 0),
        (2.4, 20, 0),
    )  # fmt: skip
    stage.key(jaw, "rotation_euler", *((t, (-math.radians(up), 0.0, math.radians(turn))) for t, up, turn in turns))
