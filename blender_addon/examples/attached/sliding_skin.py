"""Skin that slides over a flexing arm."""

from __future__ import annotations

from typing import Any

from .. import curling_arm
from ..stage import Stage

LABEL = "Sliding Skin"
DESCRIPTION = "A sleeve of skin is tied to the flesh of an arm, and slides over its biceps and elbow as the arm flexes"
SKIN, BROWN, FLESH, PALE = (0.85, 0.62, 0.50), (0.16, 0.06, 0.03), (0.50, 0.08, 0.07), (0.95, 0.80, 0.62)
OPACITY = 0.4
"""Opacity of the outside of the skin, which shows the flesh. The inside is not visible."""
SPACING, WIDTH = 0.048, 0.012
"""Spacing and width of the rings, m. Those of the skin lie over those of the flesh at rest."""
THICKNESS, CELLS, ARM_CELLS, STIFFNESS = 0.016, 24, 18, 3e4
"""Thickness of the skin, m; cells along the skin and along the arm; Young's modulus of the skin, Pa."""


def build(stage: Stage) -> Any:
    """Build the arm of the example *Curling Arm* and the skin around it. Returns the skin."""
    flesh = stage.shader("Flesh", FLESH, 0.4), stage.shader("Ring of Flesh", PALE, 0.4)
    arm = curling_arm.build(stage, *flesh)
    shell = stage.add("Skin", arm.data)
    solidify = shell.modifiers.new("Solidify", "SOLIDIFY")
    solidify.thickness, solidify.offset, solidify.use_even_offset = THICKNESS, 1.0, True
    shell.data = stage.evaluated(shell)
    shell.data.name = "Skin"
    shell.modifiers.clear()
    shell.vertex_groups.clear()
    shell.data.materials.clear()
    for name, colour, opacity in (("Skin", SKIN, OPACITY), ("Ring of Skin", BROWN, OPACITY), ("Inner Skin", SKIN, 0.0)):
        shell.data.materials.append(stage.shader(name, colour, 0.45, opacity=opacity))
    outer = len(arm.data.vertices)
    for mesh in (arm.data, shell.data):
        _paint_rings(mesh, outer)
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


def _paint_rings(mesh: Any, outer: int) -> None:
    """Assign the second Blender material of a mesh to rings around the arm, and the third to its inner faces.

    ``outer``: number of vertices of the outer side, which come first.
    """
    for face in mesh.polygons:
        _x, y, z = face.center
        is_ring = (z if z > -y else y) % SPACING < WIDTH
        face.material_index = int(is_ring) if face.vertices[0] < outer else 2
