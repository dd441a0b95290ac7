"""Resolution: the tetrahedra, and which shape is filled with them."""

from typing import Any

from ..blender_addon.child import running
from ..blender_addon.setup import figures, forecasts, size
from .bake import draw_progress
from .places import draw_button, draw_properties, panel, wrapped


@panel("Resolution")
def draw_resolution(layout: Any, context: Any, obj: Any) -> None:
    """How finely it is filled, which shape, and what came of it."""
    settings = obj.sinew
    draw_size(layout, context, obj)
    draw_properties(layout, settings, "method", "cells_across")
    wrapped(layout, forecasts.missing_words(settings.method), context, "ERROR")
    words, icon = forecasts.cost_words(obj, context)
    wrapped(layout, words, context, icon)
    column = layout.column()
    column.prop_search(settings, "finer_group", obj, "vertex_groups")
    if settings.finer_group:
        column.prop(settings, "finest")
    _draw_shape(layout, obj)
    wrapped(layout, f"Simulated: {settings.place_label}", context, "MODIFIER")
    wrapped(layout, settings.place_warning, context, "ERROR")
    wrapped(layout, forecasts.coarse_words(obj, context), context, "INFO")
    work = running.current(obj.session_uid)
    if work is not None and work.order.mode == "mesh":
        draw_progress(layout, work, context)
    else:
        draw_button(layout, context, "sinew.tetrahedralize", icon="MESH_ICOSPHERE")
    _draw_result(layout, settings.bake, context)


def draw_size(layout: Any, context: Any, obj: Any) -> None:
    """How large the scene's bodies are simulated, how far this one sags so, and the size at which it hardly does."""
    layout.prop(context.scene.sinew, "length_factor")
    told = size.told(obj, context)
    wrapped(layout, told.words, context, "ERROR" if told.factor else "INFO")
    if told.factor:
        draw_button(
            layout, context, "sinew.simulate_smaller", text=f"Simulate as {told.smaller}", icon="FULLSCREEN_EXIT"
        )


def _draw_shape(layout, obj):
    settings, keys = obj.sinew, obj.data.shape_keys
    column = layout.column()
    row = column.row(align=True)
    row.prop(settings, "place")
    row.operator("sinew.set_rest_shape", text="", icon="SHAPEKEY_DATA")
    if settings.place == "MODIFIER":
        column.prop_search(settings, "simulate_after", obj, "modifiers")
    if settings.rest_key or (keys is not None and settings.bake.status == "NONE"):
        column.prop_search(settings, "rest_key", keys or settings, "key_blocks" if keys else "materials")


def _draw_result(layout, record, context):
    wrapped(layout, record.mesh_summary, context, "CHECKMARK")
    if record.body_mass > 0.0:
        scene = context.scene
        words = f"{figures.mass_words(record.body_mass, scene)}, {figures.volume_words(record.body_volume, scene)}"
        words = f"{figures.extent_words(record.body_size, scene)}, {words}"
        wrapped(layout, words, context, "PHYSICS")
    wrapped(layout, record.mesh_warning, context, "ERROR")
    if record.is_thin:
        draw_button(layout, context, "sinew.select_thin", icon="RESTRICT_SELECT_OFF")
