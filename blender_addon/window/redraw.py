"""Redraws of the editors that show Sinew's data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy


def redraw(views: bool = True) -> None:
    """Redraw the Properties editors and the 3D Views. With ``views`` False, only the sidebars of the 3D Views are
    redrawn.
    """
    for area in _areas():
        if area.type == "PROPERTIES" or (views and area.type == "VIEW_3D"):
            area.tag_redraw()
        elif area.type == "VIEW_3D":
            _redraw_regions(area, "UI")


def redraw_views() -> None:
    """Redraw the 3D Views without their panels."""
    for area in _areas():
        if area.type == "VIEW_3D":
            _redraw_regions(area, "WINDOW")


def redraw_status() -> None:
    """Redraw the status bar of each window without a running tool.

    A running tool may show its own text in the status bar.
    """
    for window in bpy.context.window_manager.windows:
        if not len(window.modal_operators):
            window.workspace.status_text_set_internal(None)


def redraw_changed(settings: Any, context: Any) -> None:
    """Redraw after the change of a property (an ``update`` function)."""
    redraw()


def _areas() -> Iterator[Any]:
    for window in bpy.context.window_manager.windows:
        yield from window.screen.areas


def _redraw_regions(area: Any, kind: str) -> None:
    for region in area.regions:
        if region.type == kind:
            region.tag_redraw()
