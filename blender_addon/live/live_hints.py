"""Hints of what mouse and keys do, as the status bar shows them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

WIDE = {"EVENT_CTRL", "EVENT_ESC"}
"""Icons of a key's whole word."""
UNITS = 1.7
"""Width of such an icon in units of Blender's interface; a label would overlap the next ones."""


def draw_hints(layout: Any, hints: Iterable[tuple[str, str]]) -> None:
    """Draw words and icons in a row, each icon before its words."""
    row = layout.row(align=True)
    for text, icon in hints:
        cell = row.row(align=True)
        if icon in WIDE:
            cell.ui_units_x = UNITS
        cell.label(text="", icon=icon)
        if text:
            row.label(text=text)
