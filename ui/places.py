"""The two places where each panel stands."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import blf
import bpy

from ..blender_addon import sources

SIDEBAR = {"bl_space_type": "VIEW_3D", "bl_region_type": "UI", "bl_category": "Sinew"}
PHYSICS = {"bl_space_type": "PROPERTIES", "bl_region_type": "WINDOW", "bl_context": "physics"}
ROOTS = {"VIEW3D": "VIEW3D_PT_sinew", "PHYSICS": "PHYSICS_PT_sinew"}

MARGINS, ICON_WIDTH = 64, 20
"""Pixels at a scale of one that a line of text in a panel leaves to borders, tabs and scroll bar; and to its icon."""


class Subject:
    """Base of what a panel shows: only for objects that are simulated, and for what carries their bake."""

    @classmethod
    def poll(cls, context: Any) -> bool:
        """Whether the panel is there."""
        return sources.body_of(context) is not None


def panels(subject: type, name: str, under: str = "", **options: Any) -> tuple[type, ...]:
    """Panel classes of a subject, one a place, under the body's panel or under that of the subject named ``under``."""
    made = []
    for prefix, place in (("VIEW3D", SIDEBAR), ("PHYSICS", PHYSICS)):
        parent = f"{ROOTS[prefix]}_{under}" if under else ROOTS[prefix]
        attributes = {"bl_idname": f"{ROOTS[prefix]}_{name}", "bl_parent_id": parent, **place, **options}
        made.append(type(attributes["bl_idname"], (subject, bpy.types.Panel), attributes))
    return tuple(made)


def properties_layout(panel: Any) -> Any:
    """The panel's layout in Blender's two-column style."""
    layout = panel.layout
    layout.use_property_split = True
    layout.use_property_decorate = False
    return layout


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
        """What a row shows of an item."""
        row.prop(item, "name", text="", emboss=False, icon=self.row_icon)
        right = row.row()
        right.alignment = "RIGHT"
        right.label(text=self.words(item))

    def words(self, item: Any) -> str:
        """What stands at the right end."""
        return ""


def draw_list(layout: Any, settings: Any, noun: str, menu: str = "") -> None:
    """The list of a body's ``noun`` + "s" with the buttons that add (from a menu, where one is named), remove and move
    an item.
    """
    row = layout.row()
    row.template_list(f"SINEW_UL_{noun}s", "", settings, f"{noun}s", settings, f"active_{noun}", rows=3)
    column = row.column(align=True)
    if menu:
        column.menu(menu, text="", icon="ADD")
    else:
        column.operator(f"sinew.add_{noun}", text="", icon="ADD")
    column.operator(f"sinew.remove_{noun}", text="", icon="REMOVE")
    column.separator()
    column.operator(f"sinew.move_{noun}", text="", icon="TRIA_UP").direction = "UP"
    column.operator(f"sinew.move_{noun}", text="", icon="TRIA_DOWN").direction = "DOWN"


def wrapped(layout: Any, text: str, context: Any, icon: str = "NONE") -> None:
    """A text over as many lines as the region's width asks for."""
    column = layout.column(align=True)
    scale = context.preferences.system.ui_scale
    margins = MARGINS + (0 if icon == "NONE" else ICON_WIDTH)
    blf.size(0, context.preferences.ui_styles[0].widget.points * scale)
    lines = lines_of(text, context.region.width - margins * scale, lambda part: blf.dimensions(0, part)[0])
    column.label(text=lines[0], icon=icon)
    for line in lines[1:]:
        column.label(text=line, icon="NONE" if icon == "NONE" else "BLANK1")


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
    for words in filter(None, dict.fromkeys(reason_against(operator, context) for operator in operators)):
        wrapped(layout, words, context, "INFO")


def lines_of(text: str, width: float, measure: Callable[[str], float]) -> list[str]:
    """The text broken at spaces and after slashes into lines no wider than ``width``; a longer word has its own."""
    lines = [""]
    for piece in re.findall(r"[^\s/]*(?:/+|\s+|$)", text.strip()):
        if lines[-1] and measure((lines[-1] + piece).rstrip()) > width:
            lines.append("")
        lines[-1] += piece
    return [line.rstrip() for line in lines]
