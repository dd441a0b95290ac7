"""Fields and Pressure panels: force fields, an acceleration attribute, weights of fields, and pressure in chambers."""

from typing import Any

from ..blender_addon.objects import duplicate_result
from ..blender_addon.properties.field_weights import KINDS, fields_for, is_enabled, reason_for, weight_of
from ..blender_addon.translations.translate import translated
from .panel_base import CLOSED, draw_keyed, keyed_column, panel, wrapped

MOST_LISTED = 8
"""Maximum number of force fields listed."""
WEIGHTS = ("gravity", "all", *(kind.weight for kind in KINDS.values() if kind.weight))


@panel("Fields", bl_options=CLOSED)
def draw_fields(layout: Any, context: Any, obj: Any) -> None:
    """Draw the force fields of the scene, and the acceleration attribute."""
    _draw_list(layout, obj, context)
    layout.prop(obj.sinew, "acceleration_attribute", icon="SPREADSHEET")
    if not obj.sinew.acceleration_attribute:
        words = (
            "Enter the name of a vector attribute: an acceleration in m/s², world space. Geometry Nodes can create it."
        )
        wrapped(layout, words, context, "INFO")


@panel("Field Weights", under="fields", bl_options=CLOSED)
def draw_field_weights(layout: Any, context: Any, obj: Any) -> None:
    """Draw the body's weights for gravity and each type of force field, and its charge."""
    weights = obj.sinew.field_weights
    layout.prop(weights, "collection", text="Collection")
    column = layout.column()
    for name in WEIGHTS:
        column.prop(weights, name, slider=True)
    layout.prop(weights, "own_charge")


def _draw_list(layout: Any, obj: Any, context: Any) -> None:
    fields = fields_for(obj, context.view_layer)
    if not fields:
        wrapped(layout, "Force fields of the scene act on the body (Add > Force Field).", context, "INFO")
    column = layout.column(align=True)
    for field in fields[:MOST_LISTED]:
        settings, row = field.field, column.row()
        kind = settings.bl_rna.properties["type"].enum_items[settings.type]
        row.active = is_enabled(field, context.view_layer) and weight_of(obj, settings.type) > 0.0
        row.label(text=f"{field.name}: {translated(kind.name)}", icon=kind.icon, translate=False)
        if reason := reason_for(settings):
            wrapped(
                column, translated("Has no effect on the body: {reason}.", reason=translated(reason)), context, "ERROR"
            )
    if len(fields) > MOST_LISTED:
        column.label(text=translated("and {count} more", count=len(fields) - MOST_LISTED), icon="BLANK1")


def _draw_switch(panel: Any, context: Any) -> None:
    panel.layout.prop(duplicate_result.body_of(context).sinew.chamber, "enabled", text="")


@panel("Pressure", bl_options=CLOSED, draw_header=_draw_switch)
def draw_pressure(layout: Any, context: Any, obj: Any) -> None:
    """Draw the pressure in the body's chambers."""
    settings, column = obj.sinew.chamber, keyed_column(layout)
    column.active = settings.enabled
    draw_keyed(column, settings, "pressure")
    column.prop(settings, "is_gas")
    column.prop(settings, "vertex_group", icon="GROUP_VERTEX")
    column.prop(settings, "shared")
