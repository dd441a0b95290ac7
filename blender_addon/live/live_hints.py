"""Hints of mouse and key actions in the status bar."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

WIDE = {"EVENT_CTRL", "EVENT_ESC"}
"""Icons that contain the name of a key."""
UNITS = 1.7
"""Width of such an icon in UI units; by default it would overlap the next label."""


def draw_hints(layout: Any, hints: Iterable[tuple[str, str]]) -> None:
    """Draw icons in a row, each followed by its text."""
    row = layout.row(align=True)
    for text, icon in hints:
        cell = row.row(align=True)
        if icon in WIDE:
            cell.ui_units_x = UNITS
        cell.label(text="", icon=icon)
        if text:
            row.label(text=text)
