"""Solver: the method that computes a step, and how exactly."""

from typing import Any

from .places import Subject, panels, properties_layout


class Solver(Subject):
    bl_label = "Solver"

    def draw(self, context: Any) -> None:
        settings = context.object.sinew
        layout = properties_layout(self)
        layout.prop(settings, "solver")
        column = layout.column()
        column.prop(settings, "substeps")
        if settings.solver == "linearly_implicit":
            column.prop(settings, "damping_factor")
        else:
            column.prop(settings, "max_iterations")
            column.prop(settings, "tolerance")
        if settings.solver == "mixed_fem":
            column.prop(settings, "quadratic_finish")
        column = layout.column(heading="Gravity")
        column.prop(context.scene, "use_gravity", text="")
        column = layout.column()
        column.active = context.scene.use_gravity
        column.prop(context.scene, "gravity", text="Scene Gravity")


CLASSES = panels(Solver, "solver", bl_options={"DEFAULT_CLOSED"})
