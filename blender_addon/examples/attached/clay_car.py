"""Car body of clay that a falling ball dents: the dent stays."""

from __future__ import annotations

from typing import Any

from ..shapes import SIDES, ball, box, limb
from ..stage import Stage

LABEL = "Clay Car"
DESCRIPTION = "A heavy ball drops on a car of modelling clay: the roof keeps the dent, and the ball stays in it"
CLAY, STEEL = (0.72, 0.30, 0.16), (0.32, 0.35, 0.38)
VOXEL, CELLS, STIFFNESS = 0.006, 24, 3e5
HEIGHT = 0.42
"""Height of the ball's centre at the first frame, m."""


def build(stage: Stage) -> Any:
    """Build the car on the floor and the ball above it. Returns the car."""
    parts = [
        box((0.0, 0.0, 0.085), (0.42, 0.18, 0.07)),
        box((0.02, 0.0, 0.145), (0.2, 0.16, 0.08)),
        *(limb((x, 0.1 * side, 0.05), (x, 0.06 * side, 0.05), 0.05, 0.05, 32) for x in (-0.13, 0.13) for side in SIDES),
    ]
    mesh = stage.mesh("Car", parts, stage.shader("Clay", CLAY, 0.7))
    car = stage.add("Car", stage.one_skin(mesh, VOXEL, 8))
    car.location = (0.0, 0.0, 0.003)
    settings = stage.body(car, 2.0, CELLS)
    stage.material(car, "Clay", STIFFNESS)
    mesh = stage.mesh("Ball", [ball((0.0, 0.0, 0.0), 0.05)], stage.shader("Steel", STEEL, 0.3))
    weight = stage.add("Ball", mesh)
    weight.location = (0.02, 0.0, HEIGHT)
    own = stage.body(weight, 2.0, CELLS)
    own.method = "rigid"
    stage.material(weight, "Steel", 2e11)
    stage.floor(0.5, (0.38, 0.38, 0.42), settings, own)
    return car
