"""Chubby figure that jumps. Flesh near the bones follows the armature, while belly and buttocks swing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from mathutils import Vector

from ..scene_import.mesh_in import vertex_positions
from .rig import add_armature, distances, follow
from .shapes import SIDES, ball, limb
from .stage import Stage

LABEL = "Swinging Flesh on an Armature"
DESCRIPTION = (
    "A figure that an armature makes jump: limbs and back are pinned to it, the soft belly follows and vibrates"
)
SKIN = (0.55, 0.36, 0.62)
VOXEL = 0.016
FLESH, FAT = 4e4, 8e3

BONES = {
    "Hips": ((0.0, 0.06, 0.36), (0.0, 0.06, 0.52), None),
    "Chest": ((0.0, 0.06, 0.52), (0.0, 0.04, 0.76), "Hips"),
    "Head": ((0.0, 0.04, 0.76), (0.0, 0.0, 1.0), "Chest"),
    "Arm.L": ((0.12, 0.05, 0.70), (0.36, 0.02, 0.50), "Chest"),
    "Arm.R": ((-0.12, 0.05, 0.70), (-0.36, 0.02, 0.50), "Chest"),
    "Leg.L": ((0.10, 0.05, 0.32), (0.13, 0.03, 0.04), "Hips"),
    "Leg.R": ((-0.10, 0.05, 0.32), (-0.13, 0.03, 0.04), "Hips"),
}
"""Head, tail (m) and parent of each bone."""
REACH = 0.09
"""Distance from a bone of the head or of the limbs, m, within which the flesh is pinned."""


PARTS = [
    ball((0.0, 0.0, 0.47), (0.185, 0.17, 0.17), 48),
    ball((0.0, -0.075, 0.42), (0.16, 0.15, 0.145), 48),
    ball((0.0, 0.03, 0.64), (0.15, 0.11, 0.13), 48),
    ball((0.0, 0.0, 0.88), (0.115, 0.115, 0.12), 48),
]
"""Shapes of the figure. It stands 1 m tall and faces -Y."""
for side in SIDES:
    PARTS += [
        ball((0.085 * side, 0.1, 0.36), (0.095, 0.1, 0.095), 32),
        ball((0.1 * side, 0.0, 0.97), 0.035),
        limb((0.12 * side, 0.05, 0.70), (0.36 * side, 0.02, 0.50), 0.055, 0.04),
        ball((0.36 * side, 0.02, 0.50), 0.05),
        limb((0.10 * side, 0.04, 0.36), (0.13 * side, 0.03, 0.06), 0.085, 0.06),
        ball((0.13 * side, -0.01, 0.045), (0.065, 0.1, 0.045)),
    ]


def build(stage: Stage) -> Any:
    """Build the figure with its animated armature. Returns the figure."""
    figure = stage.add("Figure", stage.one_skin(stage.mesh("Figure", PARTS, stage.shader("Skin", SKIN, 0.5)), VOXEL, 6))
    armature = add_armature(stage, BONES)
    follow(stage, figure, armature, BONES)
    points = vertex_positions(figure.data)
    _dance(stage, armature)
    settings = stage.body(figure, 3.0, 24)
    soft = _soft(points)
    settings.pin_group = stage.group(figure, "Pins", _held(points).astype(float))
    stage.material(figure, "Soft Flesh", FLESH, 1.0 - soft)
    stage.material(figure, "Fat", FAT, soft)
    settings.pre_roll = 10
    stage.floor(0.55, (0.30, 0.34, 0.30))
    settings.stiffness_damping = 0.01
    return figure


def _held(points: np.ndarray) -> np.ndarray:
    """Return a mask (n,) of the pinned vertices: limbs, head, shoulders and the back."""
    limb = distances(points, BONES)[:, 2:].min(axis=1) < REACH
    x, y, z = points.T
    torso = (z > 0.26) & (z < 0.7) & (np.abs(x) < 0.2)
    back = (y > 0.1) & (z > 0.5) & (np.abs(x) < 0.08)
    return (limb & ~torso) | (z > 0.7) | (z < 0.2) | back


def _soft(points: np.ndarray) -> np.ndarray:
    """Return the fraction of fat at each vertex, (n,), 0 to 1."""
    x, y, z = points.T
    belly = np.linalg.norm((points - (0.0, -0.1, 0.43)) / (0.18, 0.16, 0.18), axis=1)
    behind = np.linalg.norm((np.column_stack([np.abs(x), y, z]) - (0.085, 0.12, 0.36)) / 0.11, axis=1)
    return np.round(np.clip(2.5 * (1.3 - np.minimum(belly, behind)), 0.0, 1.0), 2)


def _dance(stage: Stage, armature: Any) -> None:
    """Animate three jumps with a twist."""
    hips = armature.pose.bones["Hips"]
    up = Vector((0.0, 1.0, 0.0))  # bones point along their own Y
    heights = [0.0, 0.0, 0.0, 0.18, 0.0, 0.18, 0.0, 0.18, 0.0, 0.0]
    turns = [0.0, 0.0, 0.0, 0.45, 0.0, -0.45, 0.0, 0.45, 0.0, 0.0]
    times = [0.0, 0.15, 0.35, 0.6, 0.85, 1.1, 1.35, 1.6, 1.85, 2.05]
    stage.key(hips, "location", *((t, h * up) for t, h in zip(times, heights, strict=True)))
    stage.key(hips, "rotation_euler", *((t, (0.0, turn, 0.0)) for t, turn in zip(times, turns, strict=True)))
    for side, name in ((1.0, "Arm.L"), (-1.0, "Arm.R")):
        arm = armature.pose.bones[name]
        lift = [math.radians(a) for a in (0, 0, 8, -35, 8, -35, 8, -35, 4, 0)]
        stage.key(arm, "rotation_euler", *((t, (0.0, 0.0, side * a)) for t, a in zip(times, lift, strict=True)))
