"""Diagnostics panel: statistics of the tetrahedra, and the solver report."""

from typing import Any

from ..blender_addon.setup import unit_format
from ..blender_addon.translations.translate import translated
from .panel_base import CLOSED, draw_reasons, panel, wrapped


@panel("Diagnostics", bl_options=CLOSED)
def draw_diagnostics(layout: Any, context: Any, obj: Any) -> None:
    """Draw statistics of the body and its tetrahedra, the linear solver of the last bake, and Copy Diagnostics."""
    record, scene = obj.sinew.bake, context.scene
    wrapped(layout, record.mesh_summary, context, "INFO")
    if record.body_mass > 0.0:
        words = (
            f"{unit_format.mass_words(record.body_mass, scene)}, {unit_format.volume_words(record.body_volume, scene)}"
        )
        words = f"{unit_format.extent_words(record.body_size, scene)}, {words}"
        wrapped(layout, words, context, "PHYSICS")
    if record.linear_solver:
        wrapped(layout, translated("Last bake: {solver}", solver=record.linear_solver), context, "INFO")
    layout.operator("sinew.copy_diagnostics", icon="COPYDOWN")
    draw_reasons(layout, context, "sinew.copy_diagnostics")


def _is_told_of(obj: Any) -> bool:
    return bool(obj.sinew.bake.report)


@panel("Solver Report", under="diagnostics", where=_is_told_of, bl_options=CLOSED)
def draw_report(layout: Any, context: Any, obj: Any) -> None:
    """Draw a summary of the solver report, and buttons for the whole report."""
    for line in obj.sinew.bake.report.splitlines():
        wrapped(layout, line, context)
    row = layout.row(align=True)
    row.operator("sinew.open_report", icon="TEXT")
    row.operator("sinew.copy_report", icon="COPYDOWN")
    draw_reasons(layout, context, "sinew.open_report", "sinew.copy_report")
