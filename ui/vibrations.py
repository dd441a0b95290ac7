"""Vibrations, under Solver: each without the match and with it, and how it moves the body."""

from typing import Any

import bpy

from ..blender_addon.child import running
from ..blender_addon.properties import choices
from ..blender_addon.setup import figures
from ..blender_addon.views import swings
from .bake import draw_progress
from .places import CLOSED, draw_button, draw_reasons, panel, wrapped

ROWS = 10
"""Of the table that are seen at once."""


def _cells(layout: Any, number: str, *words: str) -> None:
    row = layout.split(factor=0.1, align=True)
    row.label(text=number)
    row = row.grid_flow(columns=len(words), row_major=True, even_columns=True, align=True)
    for each in words:
        row.label(text=each)


class SINEW_UL_vibrations(bpy.types.UIList):
    bl_idname = "SINEW_UL_vibrations"

    def draw_item(
        self,
        context: Any,
        layout: Any,
        data: Any,
        item: Any,
        icon: Any,
        active_data: Any,
        active_property: Any,
        index: int,
    ) -> None:
        """One row; Blender calls it."""
        _cells(layout, str(index + 1), *figures.vibration_words(item))


def is_matched(obj: Any) -> bool:
    """Whether the body has vibrations to tell of, or could have."""
    return choices.is_matched(obj.sinew)


@panel("Vibrations", under="solver", where=is_matched, bl_options=CLOSED)
def draw_vibrations(layout: Any, context: Any, obj: Any) -> None:
    """The table, what plays one of it, and what finds them."""
    work = running.current(obj.session_uid)
    if work is not None and work.order.mode == "vibrations":
        draw_progress(layout, work, context)
        return
    record = obj.sinew.bake
    if record.vibrations:
        _draw_table(layout, record, context)
    else:
        wrapped(layout, "How the body swings is not known yet.", context, "INFO")
    draw_button(layout, context, "sinew.find_vibrations", icon="VIEWZOOM")
    wrapped(layout, record.message, context, "ERROR")


def _draw_table(layout, record, context):
    settings, count = context.workspace.sinew, len(record.vibrations)
    column = layout.column()
    _cells(column, "", "Without", "With", "Ratio", "Share")
    column.template_list(
        "SINEW_UL_vibrations", "", record, "vibrations", settings, "active_vibration", rows=min(count, ROWS)
    )
    wrapped(column, "Without and with the match, Hz; Share: how much of it the finer body has", context, "INFO")
    row = layout.row(align=True)
    if swings.current() is None:
        row.operator("sinew.play_vibration", text="Play", icon="PLAY")
        draw_reasons(layout, context, "sinew.play_vibration")
    else:
        row.operator("sinew.stop_vibration", text="Stop (Esc)", icon="PAUSE")
    layout.prop(settings, "swing")
