"""Settings of live mode, ``Object.sinew.live``.

No ``from __future__ import annotations`` here: Blender reads the annotations as values.
"""

# No ``from __future__ import annotations``: Blender reads the annotations as values.
import bpy

from . import choices
from .mirror import integer, menu, number, text

RATES = (
    ("SCENE", "Scene Frame Rate", "Play at the scene's frame rate, or slower if the simulation cannot keep up"),
    ("FREE", "Free", "Play as fast as the simulation can compute"),
)
SHOWN = (
    ("OBJECT", "Viewport Color", "Color that the viewport gives the object: its material's or its own"),
    ("STIFFNESS", "Stiffness", "Young's modulus on a logarithmic scale: blue is the softest, red the stiffest"),
    ("WEIGHTS", "Mode Weights", "Weight of one mode at each vertex: red is positive, blue negative, white zero"),
    ("CLUSTERS", "Clusters", "Regions of the body that are each represented by one cubature point"),
    ("POINTS", "Cubature Points", "Points where elasticity is evaluated; larger dots represent a larger volume"),
)
OF_SUBSPACE = "WEIGHTS", "CLUSTERS", "POINTS"
"""Display choices available only with subspace solvers."""
PREVIEWS = (
    ("CARD", "Graphics Card", "Draw on the graphics card: fast, lit as in Solid mode, and with the colors of Show"),
    (
        "MESH",
        "Mesh",
        "Move a temporary object: slower, without the colors of Show, but with its shaders in Material Preview and "
        "Rendered. Also used if the graphics card cannot draw the preview",
    ),
)


class SinewLive(bpy.types.PropertyGroup):
    """Settings of live mode, and its last message."""

    solver: menu(
        "Solver",
        "Solver of live mode; bakes use the solver of the panel Solver",
        items=choices.live_solver_items,
        default=choices.number_of(choices.AUTOMATIC),
    )
    rate: menu("Rate", "Speed of live mode", items=RATES)
    strength: number(
        "Strength (N/m)",
        "Stiffness of the spring by which the mouse, or a pin set with the mouse, pulls the body, N/m. With 0, it is "
        "chosen from the body's weight and size",
        default=0.0,
        min=0.0,
        soft_max=1e5,
        precision=1,
        step=1000,
    )
    preview: menu("Preview", "How live mode draws the body", items=PREVIEWS)
    show: menu("Show", "How the body is colored", items=SHOWN)
    mode: integer(
        "Mode",
        "Mode whose weights are shown: 1 is the slowest. Numbers after the last mode show the weights of pinned parts",
        default=1,
        min=1,
        soft_max=16,
    )
    message: text("Message", "Last message of live mode, or why it ended")


CLASSES = (SinewLive,)
