"""Fields: what accelerates the body beside its springs: gravity, force fields of the scene, an attribute."""

from typing import Any

from ..blender_addon import sources
from ..blender_addon.field_weights import fields_for, is_enabled, reason_for, weight_of
from .places import Subject, panels, properties_layout, wrapped

MOST_LISTED = 8
"""Fields that the panel names."""

WEIGHTS = (
    "gravity",
    "all",
    "force",
    "wind",
    "vortex",
    "magnetic",
    "harmonic",
    "charge",
    "texture",
    "turbulence",
    "drag",
    "smokeflow",
)


class Fields(Subject):
    bl_label = "Fields"

    def draw(self, context: Any) -> None:
        obj = sources.body_of(context)
        layout = properties_layout(self)
        _draw_list(layout, obj, context)
        layout.prop(obj.sinew, "acceleration_attribute", icon="SPREADSHEET")
        if not obj.sinew.acceleration_attribute:
            words = "Name a vector attribute in m/s², world space. Geometry Nodes can make it."
            wrapped(layout, words, context, "INFO")


class FieldWeights(Subject):
    bl_label = "Field Weights"

    def draw(self, context: Any) -> None:
        weights = sources.body_of(context).sinew.field_weights
        layout = properties_layout(self)
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
        kind = field.field.type
        row = column.row()
        row.active = is_enabled(field, context.view_layer) and weight_of(obj, kind) > 0.0
        row.label(text=f"{field.name}: {_label(field.field)}", icon=_icon(field.field))
        if reason := reason_for(field.field):
            wrapped(column, f"Does nothing here: {reason}.", context, "ERROR")
    if len(fields) > MOST_LISTED:
        column.label(text=f"and {len(fields) - MOST_LISTED} more", icon="BLANK1")


def _label(settings: Any) -> str:
    return settings.bl_rna.properties["type"].enum_items[settings.type].name


def _icon(settings: Any) -> str:
    return settings.bl_rna.properties["type"].enum_items[settings.type].icon


CLASSES = (
    *panels(Fields, "fields", bl_options={"DEFAULT_CLOSED"}),
    *panels(FieldWeights, "field_weights", under="fields", bl_options={"DEFAULT_CLOSED"}),
)
