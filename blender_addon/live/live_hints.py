"""Hints for mouse and keys in the status bar."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

WIDE = {"EVENT_CTRL", "EVENT_ESC"}
"""Icons that show a key's whole name."""
UNITS = 1.7
"""Width of an icon in ``WIDE``, in Blender's UI units. In Blender's default width, the following text would overlap the
icon.
"""


def draw_hints(layout: Any, hints: Iterable[tuple[str, str]]) -> None:
    """Draw hints for mouse and keys in a row of the status bar.

    ``hints``: pairs of text and icon. The icon is drawn before the text.
    """
    row = layout.row(align=True)
    for text, icon in hints:
        cell = row.row(align=True)
        if icon in WIDE:
            cell.ui_units_x = UNITS
        cell.label(text="", icon=icon)
        if text:
            row.label(text=text)
