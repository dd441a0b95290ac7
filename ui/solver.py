"""Solver panel: the solver, its accuracy, damping and gravity."""

from typing import Any

from ..blender_addon.objects import duplicate_result
from ..blender_addon.picking import proposing
from ..blender_addon.properties import choices
from ..blender_addon.setup import recommendations, unit_format
from ..blender_addon.translations.translate import translated
from .panel_base import CLOSED, draw_button, draw_properties, draw_reasons, panel, wrapped

TOLERANCES = {
    "movement": "tolerance",
    "decrement": "decrement_tolerance",
    "acceleration": "acceleration_tolerance",
}
"""Name of the tolerance property that each stop rule uses."""


def _draw_header(panel: Any, context: Any) -> None:
    """Draw an icon in the panel's header if there is advice on the solver."""
    if recommendations.of_solver(duplicate_result.body_of(context), context.scene):
        panel.layout.label(text="", icon="INFO")


@panel("Solver", draw_header_preset=_draw_header, is_often=True, bl_options=CLOSED)
def draw_solver(layout: Any, context: Any, obj: Any) -> None:
    """Draw the choice of the solver, the solver's settings, damping, and the scene's gravity."""
    settings, scene = obj.sinew, context.scene
    kind = choices.solver_kind(settings.solver)
    layout.prop(settings, "solver")
    if kind.takes_modes:
        draw_properties(layout, settings, "subspace_basis", "modes", "cubature_points")
        draw_points(layout, settings.bake, context)
    if kind.takes_nodes:
        draw_nodes(layout, obj, context)
    draw_match(layout, settings, kind, context)
    column = layout.column()
    column.prop(settings, "substeps")
    if kind.iterates:
        column.prop(settings, "max_iterations")
    draw_properties(column, settings, *own_of(kind, is_advanced=False))
    if kind.integrates:
        draw_properties(column, settings, "integrator", *choices.own_of_integrator(settings.integrator))
    wrapped(column, integration_words(settings), context, "INFO")
    layout.prop(settings, "mass_damping")
    layout.prop(settings, "stiffness_damping", text="Stiffness Damping")  # the label with its unit would be truncated
    column = layout.column(heading="Gravity")
    column.prop(scene, "use_gravity", text="")
    column = layout.column()
    column.active = scene.use_gravity
    column.prop(scene, "gravity", text="Scene Gravity")
    wrapped(layout, unit_format.gravity_words(scene), context, "ERROR")


def own_of(kind: Any, is_advanced: bool) -> list[str]:
    """Return the names of the settings that only this ``kind`` of solver reads.

    With ``is_advanced``, these are the advanced settings, otherwise the basic settings.
    """
    return [name for name, field in kind.own.items() if field.metadata["is_advanced"] == is_advanced]


def draw_points(layout: Any, record: Any, context: Any) -> None:
    """Draw a warning about too few cubature points, with a button that sets a sufficient number."""
    wrapped(layout, record.points_warning, context, "ERROR")
    if record.points_warning and record.points_that_suffice:
        draw_button(
            layout, context, "sinew.use_points", text=translated("Use {count} Points", count=record.points_that_suffice)
        )


def draw_nodes(layout: Any, obj: Any, context: Any) -> None:
    """Draw the vertex group of dynamic nodes, and the button that proposes nodes.

    Dynamic nodes are the vertices whose motion the ConJac solvers integrate in time.
    """
    layout.prop(obj.sinew, "node_group", icon="GROUP_VERTEX")
    row = layout.row(align=True)
    row.use_property_split = False
    row.operator("sinew.propose_nodes")
    row.prop(obj.sinew, "node_count", text="")
    draw_reasons(layout, context, "sinew.propose_nodes")
    wrapped(layout, proposing.node_words(obj), context, "INFO")


def draw_match(layout: Any, settings: Any, kind: Any, context: Any) -> None:
    """Draw the settings of the body's vibrations, and the quality of the last match.

    A match changes the stiffness so that the body vibrates like a finer mesh or like the full space.
    """
    if kind.takes_modes:
        layout.prop(settings, "match_full_space")
    layout.prop(settings, "match_resolution")
    if settings.match_resolution:
        layout.prop(settings, "match_cells")
    layout.prop(settings, "control_vibrations")
    if choices.has_vibrations(settings):
        words = {} if choices.is_matched(settings) else {"text": "Vibrations"}
        layout.prop(settings, "match_modes", **words)
        wrapped(layout, settings.bake.match, context, "INFO")


def integration_words(settings: Any) -> str:
    """Return a warning if the solver's damping factor adds damping to a time integration rule that has little.

    The text is empty otherwise.
    """
    damped = "damping_factor" in choices.solver_kind(settings.solver).own and settings.damping_factor != 1.0
    calm = settings.integrator == "backward_euler"
    label = choices.integrator_label(settings.integrator)
    return (
        translated("{label} is lively only with a Damping Factor of 1; this factor damps motion.", label=label)
        if damped and not calm
        else ""
    )


@panel("Advanced", under="solver", bl_options=CLOSED, bl_order=1)
def draw_advanced(layout: Any, context: Any, obj: Any) -> None:
    """Draw the stop rule, the settings of the linear solver, and the kind of elements."""
    settings = obj.sinew
    kind = choices.solver_kind(settings.solver)
    draw_properties(layout, settings, "stop_rule", TOLERANCES[settings.stop_rule])
    draw_properties(layout, settings, *own_of(kind, is_advanced=True), *["match_method"] * choices.is_matched(settings))
    # The linear systems of a subspace are small and dense: settings of sparse ones do not apply.
    if "linear_solver" in kind.settings:
        layout.prop(settings, "linear_solver")
    layout.prop(settings, "elements")
