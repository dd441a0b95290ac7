"""Advice panel: recommended solver and substeps, with reasons."""

from typing import Any

from ..blender_addon.setup import recommendations
from ..blender_addon.translations.translate import translated
from .panel_base import draw_button, draw_reasons, panel, wrapped


@panel("Advice", under="solver", is_often=True)
def draw_advice(layout: Any, context: Any, obj: Any) -> None:
    """Draw the recommendations on solver and substeps, with their reasons."""
    if not recommendations.is_known(obj):
        wrapped(layout, "Advice for this body is computed from its tetrahedra: press Tetrahedralize.", context, "INFO")
        draw_button(layout, context, "sinew.tetrahedralize", icon="MESH_ICOSPHERE")
        return
    found = recommendations.of_solver(obj, context.scene)
    if recommendations.is_outdated(obj):
        wrapped(layout, "Physical materials were edited: the tetrahedra are outdated.", context, "ERROR")
        draw_button(layout, context, "sinew.tetrahedralize", text="Rebuild Tetrahedra", icon="MESH_ICOSPHERE")
    elif not found:
        is_known = recommendations.is_step_known(obj)
        words = "Solver and substeps suit this body." if is_known else "The solver suits this body."
        wrapped(layout, translated(words), context, "CHECKMARK")
    for each in found:
        draw_advised(layout, context, each)
    if found:
        draw_reasons(layout, context, "sinew.take_advice")
    if not recommendations.is_step_known(obj):
        words = "Advice on Substeps needs the motion of pins and colliders: bake at least two frames."
        wrapped(layout, words, context, "INFO")


def draw_advised(layout: Any, context: Any, each: Any) -> Any:
    """Draw a recommendation: the reason, and the button that applies ``each``. Returns the button's row."""
    column = layout.column(align=True)
    wrapped(column, each.reason, context, "INFO")
    row = column.row(align=True)
    row.operator("sinew.take_advice", text=recommendations.button_words(each)).setting = each.setting
    return row
