"""Has Blender draw anew what shows something of ours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy


def redraw(views: bool = True) -> None:
    """Draw the 3D Views and the Properties editors; without ``views``, panels alone."""
    for area in _areas():
        if area.type == "PROPERTIES" or (views and area.type == "VIEW_3D"):
            area.tag_redraw()
        elif area.type == "VIEW_3D":
            _redraw_regions(area, "UI")


def redraw_views() -> None:
    """Draw the 3D Views without their panels: what moves in them, moves often."""
    for area in _areas():
        if area.type == "VIEW_3D":
            _redraw_regions(area, "WINDOW")


def redraw_status() -> None:
    """Redraw the status bar: it is not an area of the screen, and a tool may have replaced its text."""
    for window in bpy.context.window_manager.windows:
        if not len(window.modal_operators):
            window.workspace.status_text_set_internal(None)


def redraw_changed(settings: Any, context: Any) -> None:
    """An ``update`` of properties that say what 3D Views show."""
    redraw()


def _areas() -> Iterator[Any]:
    for window in bpy.context.window_manager.windows:
        yield from window.screen.areas


def _redraw_regions(area: Any, kind: str) -> None:
    for region in area.regions:
        if region.type == kind:
            region.tag_redraw()
