"""Jelly bear with a hard core, falling and bouncing."""

from __future__ import annotations

import math
from typing import Any

from .shapes import SIDES, ball, limb
from .stage import Stage

LABEL = "Hard-Cored Jelly Bear"
DESCRIPTION = "Jelly over a hard core, separated by depth below the surface; it falls onto a floor"
COLOUR = (0.75, 0.05, 0.09)
VOXEL, SKIN = 0.006, 0.03
HEIGHT = 0.1


PARTS = [
    ball((0.0, 0.0, 0.095), (0.085, 0.085, 0.095), 48),
    ball((0.0, 0.045, 0.05), (0.085, 0.075, 0.05), 48),
    ball((0.0, -0.008, 0.225), (0.07, 0.066, 0.064), 48),
    ball((0.0, -0.066, 0.212), (0.026, 0.022, 0.02)),
]
"""Shapes of the bear. It sits 0.3 m tall and faces -Y."""
for side in SIDES:
    PARTS += [
        ball((0.05 * side, 0.0, 0.28), (0.026, 0.016, 0.026)),
        limb((0.06 * side, -0.01, 0.15), (0.105 * side, -0.065, 0.125), 0.028, 0.025),
        ball((0.105 * side, -0.065, 0.125), 0.028),
        limb((0.05 * side, 0.0, 0.05), (0.08 * side, -0.1, 0.05), 0.042, 0.034),
        ball((0.08 * side, -0.1, 0.05), (0.035, 0.026, 0.037)),
    ]


def build(stage: Stage) -> Any:
    """Build the bear in the air and the floor below it. Returns the bear."""
    mesh = stage.mesh("Jelly Bear", PARTS, stage.shader("Jelly", COLOUR, roughness=0.15, transmission=0.5))
    bear = stage.add("Jelly Bear", stage.one_skin(mesh, VOXEL, 4))
    bear.location = (0.0, 0.0, HEIGHT)
    bear.rotation_euler = (math.radians(14.0), math.radians(9.0), 0.0)
    settings = stage.body(bear, 2.5, 16)
    settings.max_iterations = 150  # so soft a body needs them when it lands
    stage.material(bear, "Gelatine", 5e3)
    core = stage.material(bear, "Silicone", 1e7)
    core.name = "Core"
    core.depth_kind, core.depth, core.fade = "CORE", SKIN * stage.metre, 0.25 * SKIN * stage.metre
    stage.floor(0.45, (0.35, 0.38, 0.42), settings)
    return bear
