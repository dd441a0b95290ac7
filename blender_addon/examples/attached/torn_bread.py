"""Loaf of bread that two hands tear along a painted seam."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...cuts import splitting
from ...scene_import.mesh_in import vertex_positions
from ..shapes import SIDES, Part, sweep
from ..stage import Stage

LABEL = "Bread Torn in Two"
DESCRIPTION = "Two springs pull a loaf apart, and it tears along a painted seam"
CRUST, CRUMB = (0.45, 0.22, 0.07), (0.85, 0.74, 0.52)
LENGTH, WIDE, TALL = 0.26, 0.12, 0.09
"""Sizes of the loaf, m."""
STIFF, TOUGH = 2e4, 3e3
"""Young's modulus, and the stress at which the seam tears, Pa."""
PULL = 5e3
"""Stiffness of the springs at each end, N/m."""
SECONDS = 2.5


def build(stage: Stage) -> Any:
    """Build the loaf, its seam, and the empties that pull its ends. Returns the loaf."""
    loaf = stage.add("Loaf", stage.mesh("Loaf", [_loaf()], stage.shader("Crust", CRUST, 0.7)))
    settings = stage.body(loaf, SECONDS, 18)
    stage.material(loaf, "Foam", STIFF).density = 250.0
    X = vertex_positions(loaf.data)
    for side, name in zip(SIDES, ("Left", "Right")):
        hand = stage.add(f"{name} Hand", None)
        hand.empty_display_size = 0.03
        stage.key(
            hand,
            "location",
            (0.0, (side * 0.1, 0.0, 0.1)),
            (0.3, (side * 0.1, 0.0, 0.1)),
            (1.6, (side * 0.2, 0.0, 0.13)),
        )
        spring = settings.springs.add()
        spring.name, spring.end, spring.target, spring.strength = f"{name} Hand", "OBJECT", hand, PULL
        spring.vertex_group = stage.group(loaf, spring.name, (side * X[:, 0] > 0.35 * LENGTH).astype(float))
    cuts = settings.cuts
    cuts.tear, cuts.seam_group, cuts.tear_stress = "PAINTED", stage.group(loaf, "Seam", _seam(X)), TOUGH
    cuts.edges_across, cuts.material = 40, stage.shader("Crumb", CRUMB, 0.9)
    stage.context.view_layer.update()
    splitting.split(loaf, stage.context)
    return loaf


def _seam(X: np.ndarray) -> np.ndarray:
    """Return weights of the vertices (n,) that pass 0.5 along an uneven seam across the loaf."""
    uneven = 0.008 * np.sin(70.0 * X[:, 1]) + 0.006 * np.sin(110.0 * X[:, 2] + 1.0)
    return np.clip(0.5 + (X[:, 0] + uneven) / 0.04, 0.0, 1.0)


def _loaf() -> Part:
    """Return a loaf along the x axis with its foot at height 0.06 m."""
    around = [2.0 * math.pi * k / 32 for k in range(32)]
    sections = []
    for k in range(1, 40):
        x = -math.cos(math.pi * k / 40)
        size = (1.0 - abs(x) ** 4) ** 0.25
        ring = [(0.5 * size * WIDE * _rounded(math.cos(a)), 0.5 * size * TALL * _rounded(math.sin(a))) for a in around]
        sections.append([(0.5 * LENGTH * x, y, z + 0.06 + 0.5 * TALL) for y, z in ring])
    return sweep(sections)


def _rounded(value: float) -> float:
    return math.copysign(abs(value) ** 0.7, value)
