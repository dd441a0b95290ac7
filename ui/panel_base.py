"""Base classes of panels in the Physics tab and the sidebar, and helpers that draw their contents."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import blf
import bpy

from ..blender_addon.blend_data.names import CATEGORY
from ..blender_addon.objects import duplicate_result


class Sidebar:
    """Mixin of panels in the 3D View's sidebar."""

    bl_space_type, bl_region_type, bl_category = "VIEW_3D", "UI", CATEGORY


class Physics:
    """Mixin of panels in the Physics tab of the Properties editor."""

    bl_space_type, bl_region_type, bl_context = "PROPERTIES", "WINDOW", "physics"


ROOTS = {"VIEW3D": "VIEW3D_PT_sinew", "PHYSICS": "PHYSICS_PT_sinew"}
CLOSED = {"DEFAULT_CLOSED"}

MARGINS, ICON_WIDTH = 64, 20
"""Pixels, at a UI scale of one, that borders, tabs and scroll bar take from a line of text; width of its icon."""


class Subject:
    """Mixin of panels that are shown only for bodies and for objects that show their bakes."""

    @classmethod
    def poll(cls, context: Any) -> bool:
        """Return True if the panel is shown."""
        return duplicate_result.body_of(context) is not None


def panel(
    label: str, under: str = "", where: Callable[[Any], bool] | None = None, is_often: bool = False, **options: Any
) -> Callable[[Callable[[Any, Any, Any], None]], tuple[type, ...]]:
    """Return a decorator that makes panels from a function ``draw_NAME(layout, context, obj)``: one in the Physics tab,
    and for frequent tasks one in the sidebar.

    Parameters
    ----------
    under : NAME of the parent panel, by default the root panel
    where : condition on the body for the panels to be shown
    is_often : True to add the panel to the sidebar, too
    options : further class attributes of the panel, such as ``bl_options``
    """

    def make(draw: Callable[[Any, Any, Any], None]) -> tuple[type, ...]:
        class Drawn(Subject):
            bl_label = label

            @classmethod
            def poll(cls, context: Any) -> bool:
                return super().poll(context) and (where is None or where(duplicate_result.body_of(context)))

            def draw(self, context: Any) -> None:
                draw(properties_layout(self), context, duplicate_result.body_of(context))

        def placed(prefix: str, place: type) -> type:
            name = f"{ROOTS[prefix]}_{draw.__name__.removeprefix('draw_')}"
            parent = f"{ROOTS[prefix]}_{under}" if under else ROOTS[prefix]
            about = {"__module__": draw.__module__, "bl_idname": name, "bl_parent_id": parent, **options}
            return type(name, (Drawn, place, bpy.types.Panel), about)

        return (placed("VIEW3D", Sidebar),) * is_often + (placed("PHYSICS", Physics),)

    return make


def properties_layout(panel: Any) -> Any:
    """Return the panel's layout in Blender's two-column style."""
    layout = panel.layout
    layout.use_property_split = True
    layout.use_property_decorate = False
    return layout


def draw_properties(layout: Any, owner: Any, *names: str, align: bool = False) -> None:
    """Draw properties in a column, one per row."""
    column = layout.column(align=align)
    for name in names:
        column.prop(owner, name)


def keyed_column(layout: Any) -> Any:
    """Return a column that reserves space for keyframe decorators, so that properties without one are aligned."""
    column = layout.column()
    column.use_property_decorate = True
    return column


def draw_keyed(layout: Any, owner: Any, name: str, **words: str) -> Any:
    """Draw an animatable property with its keyframe decorator; return its row."""
    row = layout.row()
    row.use_property_decorate = True
    row.prop(owner, name, **words)
    return row


class ItemList:
    """Mixin of lists whose rows show a name and, right-aligned, a short text."""

    row_icon = "NONE"

    def draw_item(
        self,
        context: Any,
        layout: Any,
        data: Any,
        item: Any,
        icon: Any,
        active_data: Any,
        active_property: Any,
        index: Any,
    ) -> None:
        """Draw a row. Called by Blender."""
        self.draw_row(layout.row(align=True), item)

    def draw_row(self, row: Any, item: Any) -> None:
        """Draw a row of the list."""
        row.prop(item, "name", text="", emboss=False, icon=self.row_icon)
        right = row.row()
        right.alignment = "RIGHT"
        right.label(text=self.words(item))

    def words(self, item: Any) -> str:
        """Return the text at the right end of a row."""
        return ""


def draw_list(layout: Any, settings: Any, noun: str, menu: str = "", least: int = 0) -> None:
    """Draw the list of a body's ``noun`` + "s" with buttons that add an item (or with a menu), remove it if there are
    more than ``least``, and move it if there are several.
    """
    row, are_several = layout.row(), len(getattr(settings, f"{noun}s")) > 1
    row.use_property_split = False
    rows = 4 if are_several else 2
    row.template_list(f"SINEW_UL_{noun}s", "", settings, f"{noun}s", settings, f"active_{noun}", rows=rows)
    column = row.column(align=True)
    if menu:
        column.menu(menu, text="", icon="ADD")
    else:
        column.operator(f"sinew.add_{noun}", text="", icon="ADD")
    if len(getattr(settings, f"{noun}s")) > least:
        column.operator(f"sinew.remove_{noun}", text="", icon="REMOVE")
    if are_several:
        column.separator()
        column.operator(f"sinew.move_{noun}", text="", icon="TRIA_UP").direction = "UP"
        column.operator(f"sinew.move_{noun}", text="", icon="TRIA_DOWN").direction = "DOWN"


def wrapped(layout: Any, text: str, context: Any, icon: str = "NONE") -> None:
    """Draw a text wrapped to the width of the region; nothing if it is empty."""
    if not text:
        return
    column = layout.column(align=True)
    margins = MARGINS + (0 if icon == "NONE" else ICON_WIDTH)
    lines = lines_of(text, region_width(context) - margins * context.preferences.system.ui_scale, _measure(context))
    column.label(text=lines[0], icon=icon)
    for line in lines[1:]:
        column.label(text=line, icon="NONE" if icon == "NONE" else "BLANK1")


def region_width(context: Any) -> float:
    """Return the width of the drawn region in pixels."""
    return float(context.region.width)


def fitting(texts: Iterable[str], width: float, context: Any) -> str:
    """Return the first text that fits into a width in pixels, else the last; texts are sorted longest first."""
    measure, text = _measure(context), ""
    for text in texts:
        if measure(text) <= width:
            break
    return text


def _measure(context: Any) -> Callable[[str], float]:
    """Return a function that measures the width of a panel's text in pixels."""
    blf.size(0, context.preferences.ui_styles[0].widget.points * context.preferences.system.ui_scale)
    return lambda part: blf.dimensions(0, part)[0]


class _Listener:
    """Stand-in for an operator class in its ``poll`` that records the poll message."""

    words = ""

    def poll_message_set(self, words: str) -> None:
        self.words = words


def reason_against(operator: str, context: Any) -> str:
    """Return the poll message of a disabled operator of Sinew; "" if it is enabled."""
    name, listener = "SINEW_OT_" + operator.partition(".")[2], _Listener()
    return "" if getattr(bpy.types, name).poll.__func__(listener, context) else listener.words


def draw_reasons(layout: Any, context: Any, *operators: str) -> None:
    """Draw the poll messages of disabled operators below their buttons, each once."""
    for words in dict.fromkeys(reason_against(operator, context) for operator in operators):
        wrapped(layout, words, context, "INFO")


def draw_large(layout: Any, operator: str, icon: str, **words: Any) -> Any:
    """Draw an enlarged button for the primary action; return its row."""
    row = layout.row(align=True)
    row.scale_y = 1.3
    row.operator(operator, icon=icon, **words)
    return row


def draw_button(layout: Any, context: Any, operator: str, **words: Any) -> None:
    """Draw a button and, if it is disabled, its poll message."""
    layout.operator(operator, **words)
    draw_reasons(layout, context, operator)


def lines_of(text: str, width: float, measure: Callable[[str], float]) -> list[str]:
    """Return the text broken at spaces and after slashes into lines of at most ``width``; a longer word gets a line."""
    lines = [""]
    for piece in re.findall(r"[^\s/]*(?:/+|\s+|$)", text.strip()):
        if lines[-1] and measure((lines[-1] + piece).rstrip()) > width:
            lines.append("")
        lines[-1] += piece
    return [line.rstrip() for line in lines]
