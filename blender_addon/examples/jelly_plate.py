"""Pudding shaken on its plate."""

from __future__ import annotations

import math
from typing import Any

from ..scene_import.mesh_in import vertex_positions
from .shapes import Part, lathe
from .stage import Stage

LABEL = "Jelly on a Plate"
DESCRIPTION = "A soft pudding whose foot is pinned to a plate that is moved about"
COLOUR, CREAM = (0.85, 0.32, 0.03), (0.9, 0.88, 0.84)


def build(stage: Stage) -> Any:
    """Build the pudding on the animated plate. Returns the pudding."""
    jelly = stage.add("Jelly", stage.mesh("Jelly", [_pudding()], stage.shader("Orange Jelly", COLOUR, 0.1, 0.5)))
    plate = stage.add("Plate", stage.mesh("Plate", [_plate()], stage.shader("China", CREAM, 0.2)))
    jelly.parent = plate
    settings = stage.body(jelly, 2.5, 13)
    stage.material(jelly, "Gelatine", 3.7e3)
    settings.pin_group = stage.group(jelly, "Pins", (vertex_positions(jelly.data)[:, 2] < 0.003).astype(float))
    poses = [
        (0.0, 0.0, 0.0), (0.25, 0.0, 0.0), (0.5, 0.05, 0.09), (0.75, -0.035, -0.1), (1.0, 0.03, 0.08),
        (1.25, -0.015, -0.04), (1.5, 0.0, 0.0),
    ]  # fmt: skip
    stage.key(plate, "location", *((t, (x, 0.0, 0.0)) for t, x, _ in poses))
    stage.key(plate, "rotation_euler", *((t, (0.0, turn, 0.0)) for t, _, turn in poses))
    return jelly


def _pudding() -> Part:
    """Return a fluted pudding, 0.14 m wide and 0.1 m tall."""
    profile = [(0.0, 0.002), (0.03, 0.002), (0.05, 0.002), (0.066, 0.002), (0.07, 0.006)]
    profile += [(0.07 - 0.022 * k / 9, 0.006 + 0.076 * k / 9) for k in range(1, 10)]
    profile += [(0.045, 0.09), (0.039, 0.095), (0.03, 0.098), (0.02, 0.1), (0.01, 0.1), (0.0, 0.1)]
    return lathe(profile, 96, lambda angle, height: 1.0 + 0.045 * math.cos(12 * angle) * (height < 0.097))


def _plate() -> Part:
    below = [(0.0, -0.012), (0.06, -0.012), (0.075, -0.006), (0.125, 0.012), (0.13, 0.016)]
    above = [(0.126, 0.019), (0.11, 0.012), (0.095, 0.004), (0.085, 0.0), (0.06, 0.0), (0.03, 0.0), (0.0, 0.0)]
    return lathe(below + above, 64)
