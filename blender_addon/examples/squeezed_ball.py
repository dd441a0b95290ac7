"""Soft ball that two jaws squeeze, lift by friction and release."""

from __future__ import annotations

from typing import Any

from ..setup import demo_material
from .shapes import SIDES, ball, box
from .stage import Stage

LABEL = "Squeezed Ball"
DESCRIPTION = (
    "Two jaws squeeze a soft ball, lift it by friction and release it; it intersects neither the jaws nor itself. Its "
    "skin reddens where it is pressed, and pales where it is stretched"
)
STEEL = 0.32, 0.35, 0.38
RADIUS, STIFFNESS, CELLS = 0.1, 2e5, 8
STRETCH, PRESSURE = 1.17, 1.5e5
"""Stretch and contact pressure, Pa, at which the skin is palest and reddest."""
OPEN, CLOSED, UP = 0.12, 0.07, 0.16
"""Distance of a jaw from the middle when open and when closed, and height of the lift, m."""
MOVES = ((0.0, OPEN, 0.0), (0.15, OPEN, 0.0), (0.6, CLOSED, 0.0), (0.75, CLOSED, 0.0), (1.5, CLOSED, UP),
         (2.1, CLOSED, UP), (2.25, OPEN, UP), (2.75, OPEN, UP))  # fmt: skip
"""Keyframes of both jaws: time, s; distance of each jaw from the middle, m; height, m."""


def build(stage: Stage) -> Any:
    """Build the ball on the floor and the animated jaws. Returns the ball."""
    flesh = stage.add("Ball", stage.mesh("Ball", [ball((0.0, 0.0, 0.0), RADIUS, 48)]))
    demo_material.show_material(demo_material.demo_material(STRETCH, PRESSURE), flesh, [flesh])
    flesh.location = (0.0, 0.0, RADIUS + 0.003)
    settings = stage.body(flesh, 2.75, CELLS)
    stage.material(flesh, "Silicone", STIFFNESS)
    stage.floor(0.5, (0.38, 0.38, 0.42), settings)
    collisions = settings.collisions
    collisions.self_contact, collisions.collider_friction = True, 0.8
    steel = stage.shader("Steel", STEEL, 0.3)
    for side, name in zip(SIDES, ("Left Jaw", "Right Jaw"), strict=True):
        mesh = stage.mesh(name, [box((0.0, 0.0, 0.11), (0.02, 0.2, 0.16))], steel, smooth=False)
        jaw = stage.add(name, mesh, collisions.collection)
        keys = ((t, (side * (away + 0.01), 0.0, height)) for t, away, height in MOVES)
        stage.key(jaw, "location", *keys)
    return flesh
