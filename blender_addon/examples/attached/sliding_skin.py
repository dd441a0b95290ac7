"""Skin that slides over a flexing arm."""

from __future__ import annotations

from typing import Any

from .. import curling_arm
from ..stage import Stage

LABEL = "Sliding Skin"
DESCRIPTION = "A sleeve of skin is tied to the flesh of an arm, and slides over its biceps and elbow as the arm flexes"
SKIN = (0.85, 0.62, 0.50)
THICKNESS, CELLS, ARM_CELLS, STIFFNESS = 0.016, 24, 18, 3e4
"""Thickness of the skin, m; cells along the skin and along the arm; Young's modulus of the skin, Pa."""


def build(stage: Stage) -> Any:
    """Build the arm of the example *Curling Arm* and the skin around it. Returns the skin."""
    arm = curling_arm.build(stage)
    shell = stage.add("Skin", arm.data)
    solidify = shell.modifiers.new("Solidify", "SOLIDIFY")
    solidify.thickness, solidify.offset, solidify.use_even_offset = THICKNESS, 1.0, True
    shell.data = stage.evaluated(shell)
    shell.data.name = "Skin"
    shell.modifiers.clear()
    shell.vertex_groups.clear()
    shell.data.materials.clear()
    shell.data.materials.append(stage.shader("Skin", SKIN, 0.45))
    settings = stage.body(shell, 3.0, CELLS)
    settings.stiffness_damping = 0.01
    stage.material(shell, "Skin", STIFFNESS)
    settings.collisions.contact_bodies = arm.sinew.collisions.contact_bodies = False
    arm.sinew.cells_across = ARM_CELLS
    for each in (settings, arm.sinew):
        each.max_iterations = 30
    tie = settings.ties.add()
    tie.other, tie.kind = arm, "slide"
    return shell
