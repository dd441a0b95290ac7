"""Settings of live mode, ``Object.sinew.live``.

No ``from __future__ import annotations`` here: Blender reads the annotations as values.
"""

import bpy

from . import choices
from .mirror import integer, menu, number, text

RATES = (
    ("SCENE", "Scene Frame Rate", "As fast as the scene plays, where the simulation keeps up"),
    ("FREE", "Free", "As fast as the simulation goes"),
)
SHOWN = (
    ("OBJECT", "Viewport Color", "As the viewport colors the object: by its material, or its own color"),
    ("STIFFNESS", "Stiffness", "How stiff the body is, on a logarithmic scale: blue is the softest, red the stiffest"),
    ("WEIGHTS", "Mode Weights", "How much each vertex follows a mode: red moves with it, blue against it, white not"),
    ("CLUSTERS", "Clusters", "The parts of the body that stand for one cubature point each"),
    ("POINTS", "Cubature Points", "Where elasticity is computed; larger dots stand for more of the body"),
)
OF_SUBSPACE = "WEIGHTS", "CLUSTERS", "POINTS"
"""Display choices available only with subspace solvers."""
PREVIEWS = (
    ("CARD", "Graphics Card", "The card moves the vertices: quick, lit as in Solid mode, and with the colors of Show"),
    (
        "MESH",
        "Mesh",
        "A temporary object is moved: slower, with its shaders in Material Preview and Rendered, without the colors of "
        "Show. Also used if the graphics card cannot draw the preview",
    ),
)


class SinewLive(bpy.types.PropertyGroup):
    """Settings of live mode, and its last message."""

    solver: menu(
        "Solver",
        "Steps the body in live mode; bakes have a solver of their own",
        items=choices.live_solver_items,
        default=choices.number_of(choices.AUTOMATIC),
    )
    rate: menu("Rate", "How fast time passes", items=RATES)
    strength: number(
        "Strength (N/m)",
        "Force of the mouse, or of a pin, for each metre, N/m. 0 is automatic: by weight and size",
        default=0.0,
        min=0.0,
        soft_max=1e5,
        precision=1,
        step=1000,
    )
    preview: menu("Preview", "Who draws the body", items=PREVIEWS)
    show: menu("Show", "How the body is colored", items=SHOWN)
    mode: integer(
        "Mode",
        "Which one is shown: 1 is the slowest mode; after the fastest come the handles of pins",
        default=1,
        min=1,
        soft_max=16,
    )
    message: text("Message", "Last message of live mode, or why it ended")


CLASSES = (SinewLive,)
