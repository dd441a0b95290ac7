"""Base classes of panels, and functions that draw common elements."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import blf
import bpy

from ..blender_addon.blend_data.names import CATEGORY
from ..blender_addon.objects import duplicate_result
from ..blender_addon.translations.translate import CONTEXT, translated


class Sidebar:
    """Base of panels in the sidebar of the 3D View."""

    bl_space_type, bl_region_type, bl_category = "VIEW_3D", "UI", CATEGORY
    bl_translation_context = CONTEXT


class Physics:
    """Base of panels in the Physics tab of the Properties editor."""

    bl_space_type, bl_region_type, bl_context = "PROPERTIES", "WINDOW", "physics"
    bl_translation_context = CONTEXT


ROOTS = {"VIEW3D": "VIEW3D_PT_sinew", "PHYSICS": "PHYSICS_PT_sinew"}
CLOSED = {"DEFAULT_CLOSED"}

MARGINS, ICON_WIDTH = 64, 20
"""Width of the space beside a line of text, and width of an icon. Unit: pixels at a UI scale of 1."""


class Subject:
    """Base of panels for simulated objects, and for the duplicates that show their bake."""

    @classmethod
    def poll(cls, context: Any) -> bool:
        """Return True if the active object is a body or shows a body's bake."""
        return duplicate_result.body_of(context) is not None


def panel(
    label: str, under: str = "", where: Callable[[Any], bool] | None = None, is_often: bool = False, **options: Any
) -> Callable[[Callable[[Any, Any, Any], None]], tuple[type, ...]]:
    """Return a decorator that makes panels from a function ``draw_NAME(layout, context, obj)``.

    The function draws the panel of the body ``obj``. The decorator returns a tuple of panel classes.

    Parameters
    ----------
    label : title of the panels
    under : NAME of the parent panel; by default Sinew's top-level panel
    where : function of the body that returns True if the panels are shown; by default they always are
    is_often : make a panel for the sidebar, besides the panel for the Physics tab
    options : other class attributes of a Blender panel
    """

    def make(draw: Callable[[Any, Any, Any], None]) -> tuple[type, ...]:
        class Drawn(Subject):
            bl_label = label

            @classmethod
            def poll(cls, context: Any) -> bool:
                return super().poll(context) and (where is None or where(duplicate_result.body_of(context)))

            def draw(self, context: Any) -> None:
                draw(properties_layout(self), context, duplicate_result.body_of(context))

        def placed(prefix: str, base: type) -> type:
            name = f"{ROOTS[prefix]}_{draw.__name__.removeprefix('draw_')}"
            parent = f"{ROOTS[prefix]}_{under}" if under else ROOTS[prefix]
            about = {"__module__": draw.__module__, "bl_idname": name, "bl_parent_id": parent, **options}
            return type(name, (Drawn, base, bpy.types.Panel), about)

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
    """Return a column with space for a keyframe button in each row. Rows with and without a button then align."""
    column = layout.column()
    column.use_property_decorate = True
    return column


def draw_keyed(layout: Any, owner: Any, name: str, **words: str) -> Any:
    """Draw an animatable property with its keyframe button. Returns the property's row."""
    row = layout.row()
    row.use_property_decorate = True
    row.prop(owner, name, **words)
    return row


class ItemList:
    """Base of UI lists. Each row shows an editable name and, at the right end, the text of :meth:`words`."""

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
        """Draw one row (called by Blender)."""
        self.draw_row(layout.row(align=True), item)

    def draw_row(self, row: Any, item: Any) -> None:
        """Draw the row of an item."""
        row.prop(item, "name", text="", emboss=False, icon=self.row_icon)
        right = row.row()
        right.alignment = "RIGHT"
        right.label(text=self.words(item), translate=False)

    def words(self, item: Any) -> str:
        """Return the text at the right end of an item's row."""
        return ""


def draw_list(layout: Any, settings: Any, noun: str, menu: str = "", least: int = 0) -> None:
    """Draw a UI list of items of a body, with buttons that add, remove and move items.

    ``noun``: name of one item, such as "material"; the collection property is ``noun`` + "s". ``menu``: name of the
    menu that the add button opens, if not empty. Items can be removed while there are more than ``least`` items.
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
    """Draw a text, translated and wrapped to the region's width. An empty text draws nothing."""
    if not text:
        return
    text, column = translated(text), layout.column(align=True)
    margins = MARGINS + (0 if icon == "NONE" else ICON_WIDTH)
    lines = lines_of(text, region_width(context) - margins * context.preferences.system.ui_scale, _measure(context))
    column.label(text=lines[0], icon=icon, translate=False)
    for line in lines[1:]:
        column.label(text=line, icon="NONE" if icon == "NONE" else "BLANK1", translate=False)


def region_width(context: Any) -> float:
    """Return the width of the current region, pixels."""
    return float(context.region.width)


def fitting(texts: Iterable[str], width: float, context: Any) -> str:
    """Return the first text at most ``width`` pixels wide, or the last text if all are wider. Sort ``texts`` longest
    first.
    """
    measure, text = _measure(context), ""
    for text in texts:
        if measure(text) <= width:
            break
    return text


def _measure(context: Any) -> Callable[[str], float]:
    """Return a function from a text to its width in a panel, pixels."""
    blf.size(0, context.preferences.ui_styles[0].widget.points * context.preferences.system.ui_scale)
    return lambda part: blf.dimensions(0, part)[0]


class _Listener:
    """Substitute for an operator class that stores the reason given by the operator's ``poll``."""

    words = ""

    def poll_message_set(self, words: str) -> None:
        self.words = words


def reason_against(operator: str, context: Any) -> str:
    """Return the reason why an operator is disabled. The text is empty if the operator is enabled."""
    name, listener = "SINEW_OT_" + operator.partition(".")[2], _Listener()
    return "" if getattr(bpy.types, name).poll.__func__(listener, context) else listener.words


def draw_reasons(layout: Any, context: Any, *operators: str) -> None:
    """Draw the reasons why ``operators`` are disabled, each reason once."""
    for words in dict.fromkeys(reason_against(operator, context) for operator in operators):
        wrapped(layout, words, context, "INFO")


def draw_large(layout: Any, operator: str, icon: str, **words: Any) -> Any:
    """Draw a large button that runs an operator. Returns the button's row."""
    row = layout.row(align=True)
    row.scale_y = 1.3
    row.operator(operator, icon=icon, **words)
    return row


def draw_button(layout: Any, context: Any, operator: str, **words: Any) -> None:
    """Draw a button that runs an operator. If the operator is disabled, draw the reason, too."""
    layout.operator(operator, **words)
    draw_reasons(layout, context, operator)


_LETTER = "\u2e80-\u9fff\uff00-\uffef"
_PIECE = re.compile(rf"(?:[^\s/{_LETTER}]+|[{_LETTER}])[，、。）」”,.;:)]*(?:/+|\s+)?|/+|\s+")
"""Part of a text that stays on one line: a word, or a letter of Chinese or Japanese, with the marks that close it."""


def lines_of(text: str, width: float, measure: Callable[[str], float]) -> list[str]:
    """Break a text into lines of at most ``width``: at spaces, slashes, and between letters of Chinese and Japanese.

    A longer word gets a line of its own.
    """
    lines = [""]
    for piece in _PIECE.findall(text.strip()):
        if lines[-1] and measure((lines[-1] + piece).rstrip()) > width:
            lines.append("")
        lines[-1] += piece
    return [line.rstrip() for line in lines]
