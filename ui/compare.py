"""Compare panel: a second bake with other settings, drawn as a ghost over the first bake."""

from typing import Any

from ..blender_addon.bake import comparison
from ..blender_addon.jobs import job_queue
from ..blender_addon.objects import contact_groups
from ..blender_addon.properties import choices
from ..blender_addon.translations.translate import translated
from .panel_base import CLOSED, draw_large, draw_properties, draw_reasons, panel, wrapped


@panel("Compare", is_often=True, bl_options=CLOSED)
def draw_compare(layout: Any, context: Any, obj: Any) -> None:
    """Draw the settings of the second bake, and its difference from the first bake."""
    column = layout.column()
    column.enabled = job_queue.current(obj.session_uid) is None
    _draw_settings(column, obj.sinew)
    draw_large(column, "sinew.compare", icon="GHOST_ENABLED")
    others = [each for each in contact_groups.group_of(obj, context) if each != obj]
    wrapped(layout, comparison.alone_words(others), context, "ERROR")
    draw_reasons(layout, context, "sinew.compare")
    wrapped(layout, obj.sinew.compare.message, context, "ERROR")
    seen = comparison.seen(obj)
    if seen.folder is not None:
        _draw_ghost(layout, obj, seen, context)
    wrapped(layout, seen.trouble, context, "ERROR")


def _draw_settings(layout, settings):
    compare = settings.compare
    draw_properties(layout, compare, "solver", "integrator")
    read = choices.solver_kind(choices.compared_solver_names(settings)[0]).settings
    left_out = {"modes", "max_iterations"} - set(read)
    names = [name for name in ("modes", "substeps", "max_iterations", "cells_across") if name not in left_out]
    draw_properties(layout, compare, *names, align=True)
    matches = [*["match_full_space"] * ("match_full_space" in read), "match_resolution"]
    draw_properties(layout, compare, *matches)
    chosen = ((getattr(compare, name), getattr(settings, name)) for name in matches)
    if any(own if choice == choices.OWN else choice == "ON" for choice, own in chosen):
        draw_properties(layout, compare, "match_method")
    if settings.control_vibrations:
        layout.prop(compare, "control_vibrations")
    if not all(getattr(compare, name) for name in names):
        layout.label(text="0 = same as body", icon="INFO")
    layout.prop(compare, "whole_range")
    if not compare.whole_range:
        layout.prop(compare, "frame_end")


def _draw_ghost(layout, obj, seen, context):
    compare, scene, found = obj.sinew.compare, context.scene, seen.difference
    row = layout.row(align=True)
    row.use_property_split = False
    row.prop(compare, "show", text="Show Ghost", icon="HIDE_OFF" if compare.show else "HIDE_ON", toggle=True)
    row.prop(compare, "color", text="")
    row.operator("sinew.remove_ghost", text="", icon="X")
    if not seen.belongs and job_queue.current(obj.session_uid) is None:
        words = (
            "The ghost on disk belongs to another bake and is not shown. Press Compare to compute one for this bake."
        )
        wrapped(layout, words, context, "ERROR")
    if found is None:
        return
    column = layout.column(align=True)
    wrapped(column, translated("Differs from the bake: {words}", words=found.words), context, "GHOST_ENABLED")
    wrapped(column, comparison.frame_words(found, scene.frame_current, scene), context, "DRIVER_DISTANCE")
    wrapped(column, comparison.range_words(found, scene), context, "PREVIEW_RANGE")
    wrapped(column, comparison.time_words(found), context, "TIME")
