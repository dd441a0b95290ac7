"""Operators of the panel Resolution."""

from functools import partial
from typing import Any

import bpy

from ..blender_addon.bake import background, baking
from ..blender_addon.objects import duplicate_result, shape_modifiers
from ..blender_addon.scene_import.refinement_in import select_vertices, thin_vertices
from ..blender_addon.scene_import.rest_in import store_rest
from ..blender_addon.setup import body_stats, defaults
from ..blender_addon.translations.translate import marked, translated
from ..core.foundation.errors import SinewError
from . import polls
from .operator_class import EDITS, ask_before_loss, operator


def _ask_before_rebuild(self: Any, context: Any, event: Any) -> set[str]:
    return ask_before_loss(self, context, event, [duplicate_result.body_of(context)], "Tetrahedralize")


@operator(
    "Tetrahedralize",
    partial(polls.can_begin, kept=marked("tetrahedra are stored beside the .blend")),
    keep=True,
    invoke=_ask_before_rebuild,
)
def tetrahedralize(self: Any, context: Any, obj: Any) -> None:
    """Fill the body with tetrahedra in the background, and show their number and quality. A bake does this by itself if
    the mesh or the resolution has changed. An existing bake of the body is deleted when the file is saved.
    """
    if obj.sinew.bake.status != "NONE":
        background.mark_file_changed()
        baking.delete(obj)
    background.begin(obj, "mesh")


def _can_set_rest(context: Any) -> None:
    polls.disable_if(
        polls.with_own_mesh(polls.idle_body_outside_edit(context)).sinew.bake.status != "NONE",
        "The rest shape cannot be set while the body has a bake: press Delete Bake first",
    )


@operator("Set Rest Shape", _can_set_rest, EDITS)
def set_rest_shape(self: Any, context: Any, obj: Any) -> None:
    """Store the shape of the current frame in a shape key, as the stress-free rest shape. The simulation starts in the
    shape of the first frame, and elasticity pulls the body to the rest shape.
    """
    self.report(
        {"INFO"}, translated("The rest shape is stored in the shape key “{name}”", name=store_rest(obj, context))
    )


def _can_add_shape(context: Any) -> None:
    polls.disable_if(
        not shape_modifiers.shape_left_out(polls.idle_body(context)),
        "All modifiers that change the geometry are simulated already",
    )


@operator("Simulate Added Shape", _can_add_shape, EDITS)
def simulate_added_shape(self: Any, context: Any, obj: Any) -> None:
    """Simulate the shape after the last modifier that changes the body's geometry, such as Mirror or Solidify."""
    shape_modifiers.simulate_after_all(obj)


def _can_simulate_smaller(context: Any) -> None:
    obj = polls.body(context)
    polls.disable_if(not body_stats.stats_of(obj, context).factor, "The body hardly sags under its own weight")


@operator("Simulate Smaller", _can_simulate_smaller, EDITS)
def simulate_smaller(self: Any, context: Any, obj: Any) -> None:
    """Reduce the scene's Simulation Scale so that the active body sags by less than a tenth of its size. All bodies of
    the scene are simulated as if they were smaller, but shown at their own size.
    """
    context.scene.sinew.length_factor = body_stats.stats_of(obj, context).factor


@operator("Fit Stiffness", _can_simulate_smaller, EDITS)
def fit_stiffness(self: Any, context: Any, obj: Any) -> None:
    """Set the stiffness of the first physical material so that the body with its pins sags by about a twentieth of its
    size under its own weight, or less if it is slender.
    """
    defaults.fit_stiffness(obj, context)


def _can_select(context: Any) -> None:
    polls.active(context, polls.idle_body(context))


@operator("Select Thin Parts", _can_select, EDITS)
def select_thin(self: Any, context: Any, obj: Any) -> None:
    """Select, in Edit Mode, the vertices where the body is thinner than a cell, such as fingers and ears. There, the
    method Draft can merge neighbouring parts. Thickness is the distance between opposite sides of the body.
    """
    mode = obj.mode
    if mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    try:
        vertices = thin_vertices(obj, context.scene)
    except SinewError:
        bpy.ops.object.mode_set(mode=mode)
        raise
    # Blender deselects the edges: 5.0 crashes if a script sets their flags.
    context.tool_settings.mesh_select_mode = (True, False, False)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="DESELECT")
    bpy.ops.object.mode_set(mode="OBJECT")
    select_vertices(obj.data, vertices)
    bpy.ops.object.mode_set(mode="EDIT")
    words = translated(
        "The body is thinner than a cell at {count} vertices (Cells Across {cells})",
        count=len(vertices),
        cells=obj.sinew.cells_across,
    )
    self.report({"INFO"}, words)
