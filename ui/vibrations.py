"""Vibrations panel: frequencies of the body, before and after a match, and playback."""

from typing import Any

import bpy

from ..blender_addon.draw_handlers import mode_playback
from ..blender_addon.jobs import job_queue
from ..blender_addon.properties import choices
from ..blender_addon.properties.outside_properties import CONTROLLED
from ..blender_addon.setup import unit_format
from ..blender_addon.translations.translate import marked, translated
from .bake import draw_progress
from .panel_base import CLOSED, MARGINS, draw_button, draw_reasons, fitting, panel, region_width, wrapped

ROWS = 10
"""Maximum number of visible rows of the table of vibrations."""
SHARE = 0.55
"""Fraction of a row's width for the frequencies. The stiffness has the rest."""
HEADS = marked("Original Hz"), marked("Matched Hz"), marked("Ratio"), marked("Overlap")
"""Headings of the table of matched vibrations."""
MATCHED_WORDS = marked(
    "Original: without the match. Overlap: fraction of the vibration that the finer mesh's vibrations cover"
)
CONTROLLED_WORDS = marked(
    "Frequencies before and after the stiffness factor is applied: 1 unchanged, 0.1 softer, 10 stiffer"
)


def _cells(layout: Any, number: str, *words: str, share: float = 1.0) -> Any:
    """Draw a table row with texts in equal columns; return a layout for the space to the right."""
    row = layout.split(factor=0.1, align=True)
    row.label(text=number)
    row = row.split(factor=share, align=True)
    cells = row.grid_flow(columns=len(words), row_major=True, even_columns=True, align=True)
    for each in words:
        cells.label(text=each, translate=False)
    return row.row(align=True)


def _draw_controlled(layout: Any, settings: Any, index: int, item: Any) -> None:
    """Draw the row of a vibration, with its stiffness factor."""
    name = CONTROLLED[index] if index < len(CONTROLLED) else ""
    words = unit_format.vibration_words(item, unit_format.vibration_factor(settings, index))
    rest = _cells(layout, str(index + 1), *words[:2], share=SHARE)
    if name:
        rest.prop(settings.vibrations, name, text="")
        rest.prop_decorator(settings.vibrations, name)


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
        """Draw one row (called by Blender)."""
        settings = item.id_data.sinew
        if settings.control_vibrations:
            _draw_controlled(layout, settings, index, item)
        else:
            _cells(layout, str(index + 1), *unit_format.vibration_words(item))


def has_vibrations(obj: Any) -> bool:
    """Return True if the settings of the body use vibrations."""
    return choices.has_vibrations(obj.sinew)


@panel("Vibrations", under="solver", where=has_vibrations, bl_options=CLOSED)
def draw_vibrations(layout: Any, context: Any, obj: Any) -> None:
    """Draw the table of vibrations, the playback buttons, and the button that finds vibrations."""
    work = job_queue.current(obj.session_uid)
    if work is not None and work.order.mode == "vibrations":
        draw_progress(layout, work, context)
        return
    record = obj.sinew.bake
    if record.vibrations:
        _draw_table(layout, record, context)
    else:
        wrapped(layout, "The vibrations of the body are not known yet: press Find Vibrations.", context, "INFO")
    draw_button(layout, context, "sinew.find_vibrations", icon="VIEWZOOM")
    wrapped(layout, record.message, context, "ERROR")


def _fitting_heads(heads, share, context):
    """Return the table's headings, shortened to the width of their columns."""
    width = 0.9 * share * (region_width(context) - MARGINS * context.preferences.system.ui_scale)
    heads = map(translated, heads)
    return [fitting((head, head.removesuffix(" Hz"), f"{head[:4]}."), width, context) for head in heads]


def _draw_table(layout, record, context):
    settings, count = context.workspace.sinew, len(record.vibrations)
    column = layout.column()
    is_controlled = record.id_data.sinew.control_vibrations
    if is_controlled:
        heads = _fitting_heads((marked("Original Hz"), marked("Changed Hz")), SHARE / 2.0, context)
        _cells(column, "", *heads, share=SHARE).label(text=translated("Stiffness"))
    else:
        _cells(column, "", *_fitting_heads(HEADS, 0.25, context))
    column.template_list(
        "SINEW_UL_vibrations", "", record, "vibrations", settings, "active_vibration", rows=min(count, ROWS)
    )
    wrapped(column, CONTROLLED_WORDS if is_controlled else MATCHED_WORDS, context, "INFO")
    row = layout.row(align=True)
    if mode_playback.current() is None:
        row.operator("sinew.play_vibration", text="Play", icon="PLAY")
        draw_reasons(layout, context, "sinew.play_vibration")
    else:
        row.operator("sinew.stop_vibration", text="Stop (Esc)", icon="PAUSE")
    layout.prop(settings, "swing")
