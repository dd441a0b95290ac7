"""Solver: the method that computes a step, and how exactly."""

from typing import Any

from ..blender_addon import choices, figures, sources
from .places import Subject, draw_reasons, panels, properties_layout, wrapped

TOLERANCES = {
    "movement": "tolerance",
    "decrement": "decrement_tolerance",
    "acceleration": "acceleration_tolerance",
}
"""Property of each stop rule."""


class Solver(Subject):
    bl_label = "Solver"

    def draw(self, context: Any) -> None:
        settings = sources.body_of(context).sinew
        layout = properties_layout(self)
        layout.prop(settings, "solver")
        if choices.in_subspace(settings.solver):
            column = layout.column()
            column.prop(settings, "modes")
            column.prop(settings, "cubature_points")
            draw_points(layout, settings.bake, context)
        column = layout.column()
        column.prop(settings, "substeps")
        column.prop(settings, "damping_factor" if settings.solver == "linearly_implicit" else "max_iterations")
        column.prop(settings, "integrator")
        if words := integration_words(settings):
            wrapped(column, words, context, "INFO")
        column = layout.column()
        column.prop(settings, "mass_damping")
        column.prop(settings, "stiffness_damping")
        column = layout.column(heading="Gravity")
        column.prop(context.scene, "use_gravity", text="")
        column = layout.column()
        column.active = context.scene.use_gravity
        column.prop(context.scene, "gravity", text="Scene Gravity")
        if words := figures.gravity_words(context.scene):
            wrapped(layout, words, context, "ERROR")


def draw_points(layout: Any, record: Any, context: Any) -> None:
    """Of too few cubature points, as the body was prepared last, and the way out."""
    if not record.points_warning:
        return
    wrapped(layout, record.points_warning, context, "ERROR")
    if record.points_that_suffice:
        layout.operator("sinew.use_points", text=f"Use {record.points_that_suffice} Points")
        draw_reasons(layout, context, "sinew.use_points")


def integration_words(settings: Any) -> str:
    """Where the rule of time integration cannot do what it is chosen for; else ""."""
    rule = settings.integrator
    if settings.solver != "linearly_implicit" or rule != "bdf2" or settings.damping_factor == 1.0:
        return ""
    return "BDF2 is lively at a Damping Factor of 1 only."


class Advanced(Subject):
    bl_label = "Advanced"

    def draw(self, context: Any) -> None:
        settings = sources.body_of(context).sinew
        layout = properties_layout(self)
        column = layout.column()
        column.prop(settings, "stop_rule")
        column.prop(settings, TOLERANCES[settings.stop_rule])
        if settings.solver in ("mixed_fem", "subspace_mixed_fem"):
            layout.prop(settings, "quadratic_finish")
        # The linear systems of a subspace are small: what is set of sparse ones does not reach them.
        if not choices.in_subspace(settings.solver):
            column = layout.column()
            column.prop(settings, "linear_solver")
            # Automatic may turn to conjugate gradients too, when memory is short.
            if settings.linear_solver in ("pcg", "automatic"):
                column.prop(settings, "inner_iterations")
        if settings.bake.linear_solver:
            wrapped(layout, f"Last bake: {settings.bake.linear_solver}", context, "INFO")


CLASSES = (
    *panels(Solver, "solver", bl_options={"DEFAULT_CLOSED"}),
    *panels(Advanced, "advanced", under="solver", bl_options={"DEFAULT_CLOSED"}),
)
