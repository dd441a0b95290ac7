"""Compare: a second bake with other settings as a ghost over the first."""

from typing import Any

from ..blender_addon import choices, comparing, job, sources
from .places import Subject, draw_reasons, panels, properties_layout, wrapped


class Compare(Subject):
    bl_label = "Compare"

    def draw(self, context: Any) -> None:
        obj = sources.body_of(context)
        layout = properties_layout(self)
        column = layout.column()
        column.enabled = job.run_of(obj.session_uid) is None
        _draw_settings(column, obj.sinew)
        row = column.row()
        row.scale_y = 1.3
        row.operator("sinew.compare", icon="GHOST_ENABLED")
        draw_reasons(layout, context, "sinew.compare")
        if obj.sinew.compare.message:
            wrapped(layout, obj.sinew.compare.message, context, "ERROR")
        seen = comparing.seen(obj)
        if seen.folder is not None:
            _draw_ghost(layout, obj, seen.difference, context)
        if seen.trouble:
            wrapped(layout, seen.trouble, context, "ERROR")


def _draw_settings(layout, settings):
    compare = settings.compare
    column = layout.column()
    column.prop(compare, "solver")
    column.prop(compare, "integrator")
    column = layout.column(align=True)
    solver = settings.solver if compare.solver == choices.OWN else compare.solver
    names = ("modes",) if choices.in_subspace(solver) else ()
    names += ("substeps",) if solver == "linearly_implicit" else ("substeps", "max_iterations")
    for name in (*names, "cells_across"):
        column.prop(compare, name)
    if not all(getattr(compare, name) for name in (*names, "cells_across")):
        layout.label(text="0 is as the body", icon="INFO")
    layout.prop(compare, "whole_range")
    if not compare.whole_range:
        layout.prop(compare, "frame_end")


def _draw_ghost(layout, obj, found, context):
    compare, scene = obj.sinew.compare, context.scene
    row = layout.row(align=True)
    row.use_property_split = False
    row.prop(compare, "show", text="Ghost", icon="HIDE_OFF" if compare.show else "HIDE_ON", toggle=True)
    row.prop(compare, "color", text="")
    row.operator("sinew.remove_ghost", text="", icon="X")
    if found is None:
        if job.run_of(obj.session_uid) is None:
            wrapped(layout, "The bake is another since: Compare again.", context, "ERROR")
        return
    column = layout.column(align=True)
    wrapped(column, f"Other than the bake: {found.words}", context, "GHOST_ENABLED")
    wrapped(column, comparing.frame_words(found, scene.frame_current, scene), context, "DRIVER_DISTANCE")
    wrapped(column, comparing.range_words(found, scene), context, "PREVIEW_RANGE")
    if words := comparing.time_words(found):
        wrapped(column, words, context, "TIME")


CLASSES = panels(Compare, "compare", under="bake", bl_options={"DEFAULT_CLOSED"})
