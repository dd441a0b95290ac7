"""Resolution: the tetrahedra, and which shape is filled with them."""

from typing import Any

from ..blender_addon import figures, forecasts, job, sources
from .bake import draw_progress
from .places import Subject, draw_reasons, panels, properties_layout, wrapped


class Resolution(Subject):
    bl_label = "Resolution"

    def draw(self, context: Any) -> None:
        obj = sources.body_of(context)
        settings = obj.sinew
        layout = properties_layout(self)
        column = layout.column()
        column.prop(settings, "method")
        column.prop(settings, "cells_across")
        if words := forecasts.missing_words(settings.method):
            wrapped(layout, words, context, "ERROR")
        words, icon = forecasts.cost_words(obj, context)
        if words:
            wrapped(layout, words, context, icon)
        _draw_finer(layout, obj)
        column = layout.column()
        row = column.row(align=True)
        row.prop(settings, "place")
        row.operator("sinew.set_rest_shape", text="", icon="SHAPEKEY_DATA")
        if settings.place == "MODIFIER":
            column.prop_search(settings, "simulate_after", obj, "modifiers")
        keys = obj.data.shape_keys
        if settings.rest_key or (keys is not None and settings.bake.status == "NONE"):
            column.prop_search(settings, "rest_key", keys or settings, "key_blocks" if keys else "materials")
        wrapped(layout, f"Simulated: {settings.place_label}", context, "MODIFIER")
        if settings.place_warning:
            wrapped(layout, settings.place_warning, context, "ERROR")
        if words := forecasts.coarse_words(obj, context):
            wrapped(layout, words, context, "INFO")
        run = job.run_of(obj.session_uid)
        if run is not None and run.mode == "mesh":
            draw_progress(layout, run, context)
        else:
            layout.operator("sinew.tetrahedralize", icon="MESH_ICOSPHERE")
            draw_reasons(layout, context, "sinew.tetrahedralize")
        _draw_result(layout, settings.bake, context)


def _draw_finer(layout, obj):
    settings = obj.sinew
    column = layout.column()
    column.prop_search(settings, "finer_group", obj, "vertex_groups")
    if settings.finer_group:
        column.prop(settings, "finest")


def _draw_result(layout, record, context):
    if record.mesh_summary:
        wrapped(layout, record.mesh_summary, context, "CHECKMARK")
    if record.body_mass > 0.0:
        wrapped(layout, _body_words(record, context.scene), context, "PHYSICS")
    if record.mesh_warning:
        wrapped(layout, record.mesh_warning, context, "ERROR")
    if record.is_thin:
        layout.operator("sinew.select_thin", icon="RESTRICT_SELECT_OFF")
        draw_reasons(layout, context, "sinew.select_thin")


def _body_words(record, scene):
    return f"{figures.mass_words(record.body_mass, scene)}, {figures.volume_words(record.body_volume, scene)}"


CLASSES = panels(Resolution, "resolution")
