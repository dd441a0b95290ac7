"""Jelly that a knife cuts aslant; the upper part slides off."""

from __future__ import annotations

import math
from typing import Any

from ...cuts import splitting
from ...scene_import.mesh_in import vertex_positions
from ..shapes import Part, box, lathe
from ..stage import Stage

LABEL = "Jelly Cut by a Knife"
DESCRIPTION = "A keyed knife cuts a jelly aslant, and the upper part slides off"
COLOUR, INSIDE, STEEL = (0.62, 0.04, 0.10), (0.80, 0.16, 0.18), (0.55, 0.57, 0.6)
SLOPE = math.radians(32.0)
"""Angle of the cut from the floor."""
HIGH = 0.055
"""Height at which the knife enters the axis of the jelly, m."""
SECONDS = 2.5


def build(stage: Stage) -> Any:
    """Build the jelly, its knife and the floor, and split the jelly. Returns the jelly."""
    jelly = stage.add("Jelly", stage.mesh("Jelly", [_drum()], stage.shader("Cherry Jelly", COLOUR, 0.1, 0.4)))
    settings = stage.body(jelly, SECONDS, 10)
    stage.material(jelly, "Gelatine", 8e3)
    settings.pin_group = stage.group(jelly, "Pins", (vertex_positions(jelly.data)[:, 2] < 0.004).astype(float))
    settings.collisions.self_contact, settings.collisions.contact_friction = True, 0.05
    knife = stage.add("Knife", stage.mesh("Knife", [_blade()], stage.shader("Steel", STEEL, 0.25), smooth=False))
    knife.rotation_euler = (0.0, SLOPE, 0.0)
    places = (0.0, 0.19), (0.3, 0.16), (0.9, -0.1), (1.4, 0.19)
    stage.key(knife, "location", *((t, _on_slope(away)) for t, away in places))
    stage.floor(0.35, (0.30, 0.32, 0.36), settings)
    cuts = settings.cuts
    cuts.cutter, cuts.edges_across = knife, 12
    cuts.material = stage.shader("Cherry Jelly Inside", INSIDE, 0.15, 0.3)
    stage.context.view_layer.update()
    splitting.split(jelly, stage.context)
    return jelly


def _on_slope(away: float) -> tuple[float, float, float]:
    """Return the position at a distance from the jelly's axis along the cut, m."""
    return (-away * math.cos(SLOPE), 0.0, HIGH + away * math.sin(SLOPE))


def _drum() -> Part:
    """Return a round jelly with soft rims, 0.12 m wide and 0.1 m tall."""
    rims = [(0.05 + 0.01 * math.sin(a), 0.01 - 0.01 * math.cos(a)) for a in (0.0, 0.4, 0.8, 1.2, math.pi / 2)]
    wall = [(0.06, 0.01 + 0.01 * k) for k in range(1, 8)]
    above = [(r, 0.1 - z) for r, z in reversed(rims)]
    flat = [(0.01 * k, 0.0) for k in range(5)]
    return lathe([*flat, *rims, *wall, *above, *((r, 0.1) for r, _ in reversed(flat))], 32)


def _blade() -> Part:
    """Return a thin blade whose edge is at the origin, across the x axis."""
    return box((-0.03, 0.0, 0.0), (0.06, 0.22, 0.001))
