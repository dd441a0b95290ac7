"""What a bake is compared with: kept on the object as ``Object.sinew.compare``.

No ``from __future__ import annotations`` here: Blender reads the annotations as values.
"""

from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatVectorProperty, IntProperty, StringProperty

from ..core.model.settings import ResolutionSettings, SolverSettings
from . import choices
from .mirror import field_of
from .redrawing import redraw_changed


def _number(settings: type, name: str, label: str, soft_max: int) -> Any:
    """A whole number of the settings; 0 stands for the body's own."""
    field = field_of(settings, name)
    return IntProperty(
        name=label,
        description=f"{field.metadata['help']}, in the ghost; 0 as the body has it",
        default=0,
        min=0,
        max=field.metadata["range"][1],
        soft_max=soft_max,
        options=set(),
    )


class SinewCompare(bpy.types.PropertyGroup):
    """Settings of the second bake, which is shown as a ghost; 0 and ``OWN`` stand for those of the body."""

    solver: EnumProperty(
        name="Solver",
        description="Method that computes the ghost",
        items=choices.compared_solver_items,
        default=choices.number_of("newton"),
        options=set(),
    )
    integrator: EnumProperty(
        name="Integration",
        description="Rule of time integration of the ghost",
        items=choices.compared_integrator_items,
        default=choices.number_of(choices.OWN),
        options=set(),
    )
    substeps: _number(SolverSettings, "substeps", "Substeps", 20)
    max_iterations: _number(SolverSettings, "max_iterations", "Iterations", 100)
    modes: _number(SolverSettings, "modes", "Modes", 32)
    cells_across: _number(ResolutionSettings, "cells_across", "Cells Across", 80)
    whole_range: BoolProperty(
        name="Whole Range", description="Compare all frames of the bake", default=True, options=set()
    )
    frame_end: IntProperty(
        name="End",
        description="Last frame that is compared; the first is that of the bake. 20 to 50 show what differs",
        default=30,
        options=set(),
    )
    show: BoolProperty(
        name="Show Ghost",
        description="Draw the second bake over the body, at the scene's frame; it is in no render",
        default=True,
        options=set(),
        update=redraw_changed,
    )
    color: FloatVectorProperty(
        name="Color",
        description="Of the ghost; its last number is how opaque it is: 0 not at all, 0.5 as at first, 1 full, no unit",
        subtype="COLOR",
        size=4,
        min=0.0,
        max=1.0,
        default=(0.02, 0.35, 1.0, 0.5),
        options=set(),
        update=redraw_changed,
    )
    message: StringProperty(name="Message", description="What the last comparison said in the end", options=set())


CLASSES = (SinewCompare,)
