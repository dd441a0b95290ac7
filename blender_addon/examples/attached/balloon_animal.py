"""Dog of balloons that gas inflates and deflates."""

from __future__ import annotations

from typing import Any

from ..shapes import SIDES, ball, limb
from ..stage import Stage

LABEL = "Balloon Animal"
DESCRIPTION = "A keyed pressure inflates a dog of balloons, and lets it shrink again"
RUBBER = (0.80, 0.10, 0.25)
VOXEL, CELLS, STIFFNESS = 0.008, 20, 3e4
FULL = 1.3e4
"""Highest pressure, Pa."""


def build(stage: Stage) -> Any:
    """Build the dog on the floor. Returns the dog."""
    parts = [
        ball((0.0, 0.0, 0.17), (0.11, 0.045, 0.045), 32),
        ball((0.12, 0.0, 0.215), (0.03, 0.035, 0.06), 32),
        ball((0.165, 0.0, 0.29), (0.07, 0.04, 0.04), 32),
        ball((-0.1, 0.0, 0.225), (0.02, 0.02, 0.06), 24),
        *(ball((0.13, 0.045 * side, 0.345), (0.022, 0.016, 0.045), 24) for side in SIDES),
        *(
            limb((x, 0.04 * side, 0.16), (x, 0.055 * side, 0.03), 0.02, 0.026, 24)
            for x in (-0.08, 0.08)
            for side in SIDES
        ),
        *(ball((x, 0.055 * side, 0.03), 0.028, 24) for x in (-0.08, 0.08) for side in SIDES),
    ]
    mesh = stage.mesh("Dog", parts, stage.shader("Balloon", RUBBER, 0.15))
    dog = stage.add("Dog", stage.one_skin(mesh, VOXEL, 4))
    settings = stage.body(dog, 2.5, CELLS)
    stage.material(dog, "Foam", STIFFNESS)
    settings.collisions.self_contact = True
    settings.stiffness_damping = 0.02
    stage.floor(0.5, (0.38, 0.38, 0.42), settings)
    chamber = settings.chamber
    chamber.enabled, chamber.is_gas = True, False
    stage.key(chamber, "pressure", (0.0, 0.0), (0.3, 0.0), (1.3, FULL), (1.7, FULL), (2.3, 0.0))
    return dog
