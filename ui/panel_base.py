"""The two places where each panel stands, and what panels are put together from."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import blf
import bpy

from ..blender_addon.blend_data.names import CATEGORY
from ..blender_addon.objects import duplicate_result


class Sidebar:
    """The sidebar's tab of the 3D View."""

    bl_space_type, bl_region_type, bl_category = "VIEW_3D", "UI", CATEGORY


class Physics:
    """The Physics tab of the Properties editor."""

    bl_space_type, bl_region_type, bl_context = "PROPERTIES", "WINDOW", "physics"


ROOTS = {"VIEW3D": "VIEW3D_PT_sinew", "PHYSICS": "PHYSICS_PT_sinew"}
CLOSED = {"DEFAULT_CLOSED"}

MARGINS, ICON_WIDTH = 64, 20
"""Pixels at a scale of one that a line of text in a panel leaves to borders, tabs and scroll bar; and to its icon."""


class Subject:
    """Base of what a panel shows: only for objects that are simulated, and for what carries their bake."""

    @classmethod
    def poll(cls, context: Any) -> bool:
        """Return True if the panel is shown."""
        return duplicate_result.body_of(context) is not None


def panel(
    label: str, under: str = "", where: Callable[[Any], bool] | None = None, is_often: bool = False, **options: Any
) -> Callable[[Callable[[Any, Any, Any], None]], tuple[type, ...]]:
    """Make panels of a function ``draw_NAME(layout, context, obj)`` about a body: one in the Physics tab, which has
    all, and one in the sidebar of what is done often.

    Parameters
    ----------
    under : name of the panel that they are under, if not the body's own
    where : of a body, whether they are there
    is_often : whether the sidebar has it, too
    options : more that Blender reads of a panel
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
    """The panel's layout in Blender's two-column style."""
    layout = panel.layout
    layout.use_property_split = True
    layout.use_property_decorate = False
    return layout


def draw_properties(layout: Any, owner: Any, *names: str, align: bool = False) -> None:
    """Properties in a column, a row each."""
    column = layout.column(align=align)
    for name in names:
        column.prop(owner, name)


def keyed_column(layout: Any) -> Any:
    """A column whose properties leave room for a decorator, so that those without one stand below those with one."""
    column = layout.column()
    column.use_property_decorate = True
    return column


def draw_keyed(layout: Any, owner: Any, name: str, **words: str) -> Any:
    """A property that is kept and can be keyed, with its decorator, which alone would do nothing; its row."""
    row = layout.row()
    row.use_property_decorate = True
    row.prop(owner, name, **words)
    return row


class ItemList:
    """Base of lists; their rows have a name and a few words at their right end, unless they draw otherwise."""

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
        """One row; Blender calls it."""
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
    """The list of a body's ``noun`` + "s" with the buttons that add (from a menu, where one is named) and, of more
    than the ``least``, remove an item, and move it where there are several.
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
    """A text over as many lines as the region's width asks for; nothing where it is empty."""
    if not text:
        return
    column = layout.column(align=True)
    margins = MARGINS + (0 if icon == "NONE" else ICON_WIDTH)
    lines = lines_of(text, region_width(context) - margins * context.preferences.system.ui_scale, _measure(context))
    column.label(text=lines[0], icon=icon)
    for line in lines[1:]:
        column.label(text=line, icon="NONE" if icon == "NONE" else "BLANK1")


def region_width(context: Any) -> float:
    """Pixels from the left to the right edge of the region that is drawn."""
    return float(context.region.width)


def fitting(texts: Iterable[str], width: float, context: Any) -> str:
    """The first of the texts, the fullest first, that is no wider than so many pixels; else the last."""
    measure, text = _measure(context), ""
    for text in texts:
        if measure(text) <= width:
            break
    return text


def _measure(context: Any) -> Callable[[str], float]:
    """Pixels that a text takes in a panel."""
    blf.size(0, context.preferences.ui_styles[0].widget.points * context.preferences.system.ui_scale)
    return lambda part: blf.dimensions(0, part)[0]


class _Listener:
    """In the place of an operator's class that is asked whether it may begin: what it would say in a tooltip."""

    words = ""

    def poll_message_set(self, words: str) -> None:
        self.words = words


def reason_against(operator: str, context: Any) -> str:
    """Why a button of ours is grey; "" where it may be pressed."""
    name, listener = "SINEW_OT_" + operator.partition(".")[2], _Listener()
    return "" if getattr(bpy.types, name).poll.__func__(listener, context) else listener.words


def draw_reasons(layout: Any, context: Any, *operators: str) -> None:
    """Under buttons: why those that are grey are so, each reason once."""
    for words in dict.fromkeys(reason_against(operator, context) for operator in operators):
        wrapped(layout, words, context, "INFO")


def draw_large(layout: Any, operator: str, icon: str, **words: Any) -> Any:
    """A button that is meant first; its row."""
    row = layout.row(align=True)
    row.scale_y = 1.3
    row.operator(operator, icon=icon, **words)
    return row


def draw_button(layout: Any, context: Any, operator: str, **words: Any) -> None:
    """A button, and why it is grey, if so."""
    layout.operator(operator, **words)
    draw_reasons(layout, context, operator)


def lines_of(text: str, width: float, measure: Callable[[str], float]) -> list[str]:
    """The text broken at spaces and after slashes into lines no wider than ``width``; a longer word has its own."""
    lines = [""]
    for piece in re.findall(r"[^\s/]*(?:/+|\s+|$)", text.strip()):
        if lines[-1] and measure((lines[-1] + piece).rstrip()) > width:
            lines.append("")
        lines[-1] += piece
    return [line.rstrip() for line in lines]
