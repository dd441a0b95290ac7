"""Ten jellies that fall into a dish and onto each other."""

from __future__ import annotations

import math
from typing import Any

from .shapes import Part, ball, gumdrop, lathe
from .stage import Stage

LABEL = "Pile of Jellies"
DESCRIPTION = "Ten soft bodies that fall into a dish and onto each other: they collide, and are baked together"
COLOURS = ((0.75, 0.05, 0.09), (0.85, 0.32, 0.03), (0.80, 0.62, 0.05), (0.12, 0.48, 0.10), (0.30, 0.08, 0.45))
"""Colours of the jellies, repeated in this order."""
CREAM = (0.9, 0.88, 0.84)
DISH = [
    (0.0, 0.001), (0.12, 0.001), (0.2, 0.035), (0.28, 0.09), (0.3, 0.11), (0.3, 0.116), (0.29, 0.116), (0.27, 0.1),
    (0.19, 0.048), (0.115, 0.016), (0.06, 0.014), (0.0, 0.014),
]  # fmt: skip
"""Outline of the dish: radius and height, m."""
LAYERS = (3, 3, 3, 1)
"""Number of jellies per layer, from the lowest."""
APART, LOWEST, HIGHER = 0.095, 0.1, 0.145
"""Distance of a jelly from its layer's middle, height of the lowest layer, and height between layers, m."""
STIFFNESS, CELLS, SUBSTEPS, ITERATIONS = 4e4, 4, 4, 100


def build(stage: Stage) -> Any:
    """Build the jellies in the air and the dish below them. Returns the last jelly."""
    shaders = [stage.shader("Jelly", colour, 0.15, 0.4) for colour in COLOURS]
    jellies = []
    for number, position in enumerate(_positions()):
        mesh = stage.mesh("Jelly", [_jelly(number)], shaders[number % len(COLOURS)])
        jelly = stage.add("Jelly", mesh)
        jelly.location = position
        jelly.rotation_euler = (0.35 * math.sin(2.4 * number), 0.35 * math.cos(1.7 * number), 2.4 * number)
        settings = stage.body(jelly, 2.0, CELLS)
        settings.substeps, settings.max_iterations = SUBSTEPS, ITERATIONS
        stage.material(jelly, "Gelatine", STIFFNESS)
        jellies.append(jelly)
    floor = stage.floor(0.5, (0.35, 0.38, 0.42), *(jelly.sinew for jelly in jellies))
    china = stage.shader("China", CREAM, 0.2)
    stage.add("Dish", stage.mesh("Dish", [lathe(DISH, 48)], china), floor.users_collection[0])
    return jellies[-1]


def _positions() -> list[tuple[float, float, float]]:
    """Return the initial positions of all jellies, m."""
    positions = []
    for layer, count in enumerate(LAYERS):
        for k in range(count):
            turn, away = 2.0 * math.pi * k / count + 0.9 * layer, APART if count > 1 else 0.0
            positions.append((away * math.cos(turn), away * math.sin(turn), LOWEST + layer * HIGHER))
    return positions


def _jelly(number: int) -> Part:
    """Return jelly ``number``, about 0.13 m wide: in turn a drop, a ball or a pill."""
    if number % 3 == 0:
        return gumdrop(0.13, middle=0.05)
    return ball((0.0, 0.0, 0.0), 0.062 if number % 3 == 1 else (0.075, 0.055, 0.045), 32)
