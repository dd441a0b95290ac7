"""Resolution panel: the tetrahedra, and the shape they fill."""

from typing import Any

from ..blender_addon.jobs import job_queue
from ..blender_addon.objects import duplicate_result, shape_modifiers
from ..blender_addon.setup import body_stats, forecasts, recommendations
from ..blender_addon.translations.translate import translated
from .advice import draw_advised
from .bake import draw_progress
from .panel_base import CLOSED, draw_button, draw_properties, draw_reasons, panel, wrapped


def _draw_header(panel: Any, context: Any) -> None:
    """Draw a warning icon in the panel's header if the resolution has a problem."""
    obj = duplicate_result.body_of(context)
    if obj.sinew.bake.resolution_warning or recommendations.of_resolution(obj, context.scene) is not None:
        panel.layout.label(text="", icon="ERROR")


@panel("Resolution", draw_header_preset=_draw_header, is_often=True, bl_options=CLOSED)
def draw_resolution(layout: Any, context: Any, obj: Any) -> None:
    """Draw the settings of the resolution, then the estimated cost and problems.

    The texts come last, since their height changes while a setting is dragged.
    """
    settings = obj.sinew
    layout.prop(context.scene.sinew, "length_factor")
    draw_properties(layout, settings, "method", "cells_across")
    layout.prop(settings, "refine_group", icon="GROUP_VERTEX")
    if settings.refine_group:
        layout.prop(settings, "refine_factor")
    work = job_queue.current(obj.session_uid)
    if work is not None and work.order.mode == "mesh":
        draw_progress(layout, work, context)
    else:
        draw_button(layout, context, "sinew.tetrahedralize", icon="MESH_ICOSPHERE")
    wrapped(layout, forecasts.missing_words(settings.method), context, "ERROR")
    words, icon = forecasts.cost_words(obj, context)
    wrapped(layout, words, context, icon)
    wrapped(layout, body_stats.stats_of(obj, context).words, context, "INFO")
    _draw_what_is_wrong(layout, obj, context)
    wrapped(layout, settings.bake.mesh_warning, context, "ERROR")


def _draw_what_is_wrong(layout, obj, context):
    """Draw the most important problem of the resolution, with a button that solves it."""
    record, row, advised = obj.sinew.bake, layout, recommendations.of_resolution(obj, context.scene)
    if advised is not None:
        row = draw_advised(layout, context, advised)
        draw_reasons(layout, context, "sinew.take_advice")
    else:
        wrapped(layout, record.resolution_warning or forecasts.coarse_words(obj, context), context, "INFO")
    if record.is_thin:
        row.operator("sinew.select_thin", icon="RESTRICT_SELECT_OFF", **({"text": ""} if advised else {}))


@panel("Simulated Shape", under="resolution", is_often=True, bl_options=CLOSED)
def draw_shape(layout: Any, context: Any, obj: Any) -> None:
    """Draw the settings of the rest shape and of the simulated modifiers, with warnings."""
    _draw_shape(layout, obj)
    wrapped(layout, translated("Simulated: {shape}", shape=obj.sinew.simulated_label), context, "MODIFIER")
    wrapped(layout, obj.sinew.stack_warning, context, "ERROR")
    if left_out := shape_modifiers.shape_left_out(obj):
        words = translated("Simulate After “{name}”", name=left_out[-1].name)
        draw_button(layout, context, "sinew.simulate_added_shape", text=words, icon="MODIFIER")


def _draw_shape(layout, obj):
    settings, keys = obj.sinew, obj.data.shape_keys
    column = layout.column()
    row = column.row(align=True)
    row.prop(settings, "simulate_at")
    row.operator("sinew.set_rest_shape", text="", icon="SHAPEKEY_DATA")
    if settings.simulate_at == "MODIFIER":
        column.prop_search(settings, "simulate_after", obj, "modifiers")
    if settings.rest_key or (keys is not None and settings.bake.status == "NONE"):
        column.prop_search(settings, "rest_key", keys or settings, "key_blocks" if keys else "materials")
