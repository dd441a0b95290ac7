"""Five drops of one shape and five materials, hanging from a bar that is jerked."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..scene_import.mesh_in import vertex_positions
from .shapes import box, lathe
from .stage import Stage

LABEL = "Materials Side by Side"
DESCRIPTION = (
    "Five drops of one shape, from gelatine to bone, hung from a bar that jerks: one body with five material maps"
)
DROPS = (
    ("Gelatine", 1e4, (0.80, 0.08, 0.12)),
    ("Soft Flesh", 5e4, (0.80, 0.36, 0.28)),
    ("Silicone", 2e5, (0.85, 0.62, 0.10)),
    ("Rubber", 5e6, (0.12, 0.35, 0.60)),
    ("Bone", 1e9, (0.93, 0.88, 0.74)),
)
"""Preset, Young's modulus (Pa) and colour of each drop."""
APART, LONG, HANGS_AT = 0.16, 0.3, 0.5


def build(stage: Stage) -> Any:
    """Build the drops and their parent, the animated bar. Returns the drops."""
    wood = stage.shader("Wood", (0.30, 0.20, 0.13), 0.6)
    bar = stage.add("Bar", stage.mesh("Bar", [box((0.0, 0.0, 0.015), (5.4 * APART, 0.14, 0.03))], wood, smooth=False))
    drops = stage.add("Drops", _drops(stage))
    drops.parent = bar
    times = (0.0, 0.25, 0.45, 0.7, 0.95, 1.2, 1.4)
    offsets = ((0, 0), (0, 0.0), (-0.1, 0.05), (0.1, -0.04), (-0.08, 0.05), (0.04, 0), (0, 0))
    stage.key(bar, "location", *((t, (0.0, y, HANGS_AT + z)) for t, (y, z) in zip(times, offsets, strict=True)))
    settings = stage.body(drops, 3.0, 36)
    points = vertex_positions(drops.data)
    which = np.clip(np.round(points[:, 0] / APART + 2.0), 0, 4)
    for k, (preset, stiffness, _colour) in enumerate(DROPS):
        stage.material(drops, preset, stiffness, (which == k).astype(float))
    settings.pin_group = stage.group(drops, "Pins", (points[:, 2] > -0.012).astype(float))
    return drops


def _drops(stage: Stage) -> Any:
    """Return a mesh of the five drops, each with its own shader."""
    stem = [(0.05, 0.0), (0.05, -0.012), (0.042, -0.03), (0.032, -0.06)]
    stem += [(0.028, -0.06 - 0.02 * k) for k in range(1, 8)]
    head = [(0.034, -0.215), (0.048, -0.225), (0.056, -0.245), (0.056, -0.265), (0.048, -0.285), (0.03, -0.297)]
    profile = [(0.0, 0.0), (0.025, 0.0), *stem, *head, (0.0, -LONG)]
    drops = [lathe(profile, 32, x=(k - 2) * APART) for k in range(len(DROPS))]
    shaders = [stage.shader(preset, colour, 0.35) for preset, _stiffness, colour in DROPS]
    mesh = stage.mesh("Drops", drops, *shaders)
    for face in mesh.polygons:
        face.material_index = round(face.center.x / APART) + 2
    return mesh
