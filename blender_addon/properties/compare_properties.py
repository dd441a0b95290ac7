"""Settings of the comparison bake, ``Object.sinew.compare``. This second bake is drawn as a ghost over the first.

No ``from __future__ import annotations`` here: Blender reads the annotations as values.
"""

# No ``from __future__ import annotations``: Blender reads the annotations as values.
from typing import Any

import bpy

from ...core.foundation.schema.settings import ResolutionSettings, SolverSettings
from ..window.redraw import redraw_changed
from . import choices
from .mirror import field_of, integer, menu, switch, text, vector


def _number(settings: type, name: str, label: str, soft_max: int) -> Any:
    """Return an integer property for the comparison bake; 0 keeps the body's own value of the field ``name``."""
    field = field_of(settings, name)
    return integer(
        label,
        f"{field.metadata['help']}, in the ghost; 0 = same as body",
        default=0,
        min=0,
        max=field.metadata["range"][1],
        soft_max=soft_max,
    )


class SinewCompare(bpy.types.PropertyGroup):
    """Settings of the comparison bake, which is drawn as a ghost; 0 and ``OWN`` mean the body's own value."""

    solver: menu(
        "Solver",
        "Solver that computes the ghost",
        items=choices.compared_solver_items,
        default=choices.number_of(choices.AUTOMATIC),
    )
    integrator: menu(
        "Integration",
        "Rule of time integration of the ghost",
        items=choices.compared_integrator_items,
        default=choices.number_of(choices.OWN),
    )
    substeps: _number(SolverSettings, "substeps", "Substeps", 20)
    max_iterations: _number(SolverSettings, "max_iterations", "Iterations", 100)
    modes: _number(SolverSettings, "modes", "Modes", 32)
    match_full_space: menu(
        "Full Space", "Value of the setting Match Full Model for the ghost", items=choices.MATCHES, default=choices.OWN
    )
    match_resolution: menu(
        "Resolution", "Value of the setting Match Resolution for the ghost", items=choices.MATCHES, default=choices.OWN
    )
    match_method: menu(
        "Match Method",
        "Method that matches the ghost's vibrations",
        items=choices.compared_match_method_items,
        default=choices.number_of(choices.OWN),
    )
    control_vibrations: switch(
        "Control Vibrations", "Apply the body's vibration controls to the ghost, too", default=True
    )
    cells_across: _number(ResolutionSettings, "cells_across", "Cells Across", 80)
    whole_range: switch("Whole Range", "Compare all frames of the bake", default=True)
    frame_end: integer(
        "End", "Last frame that is compared; the first is that of the bake. 20 to 50 usually suffice", default=30
    )
    show: switch(
        "Show Ghost",
        "Draw the ghost over the body at the current frame; renders do not show it",
        default=True,
        update=redraw_changed,
    )
    color: vector(
        "Color",
        "Color of the ghost. Alpha is the opacity: 0 clear, 0.5 by default, 1 opaque, no unit",
        subtype="COLOR",
        size=4,
        min=0.0,
        max=1.0,
        default=(0.152, 0.115, 0.67, 0.5),
        update=redraw_changed,
    )
    message: text("Message", "Last message of the comparison")


CLASSES = (SinewCompare,)
