"""Tracking of open panels. Blender reports that a panel is drawn, but not that it is closed or hidden.

A panel is closed if its parent is drawn without it, and hidden if no editor shows its tab.
"""

from __future__ import annotations

from typing import Any

import bpy

from ..window.redraw import redraw_views

TICK = 0.1
"""Delay, s, within which a region is drawn completely."""


class OpenPanel:
    """Panel, in any editor, for which the 3D Views draw an overlay while it ``is_open``."""

    def __init__(self) -> None:
        self._open: set[int] = set()
        self._drawn: set[int] = set()
        self._asked: set[int] = set()

    @property
    def is_open(self) -> bool:
        """Return True if the panel is open in an editor that shows its tab."""
        return any(area.as_pointer() in self._open for area in _areas() if _shows_tab(area))

    def drawn(self, context: Any) -> None:
        """Note that the panel is being drawn."""
        area = _pointer(context)
        self._drawn.add(area)
        if area not in self._open:
            self._open.add(area)
            redraw_views()

    def parent_drawn(self, context: Any) -> None:
        """Note that the parent is being drawn; the panel itself follows if it is open."""
        area = _pointer(context)
        self._drawn.discard(area)
        self._asked.add(area)
        if not bpy.app.timers.is_registered(self._look):
            bpy.app.timers.register(self._look, first_interval=TICK)

    def _look(self) -> None:
        closed = self._open & (self._asked - self._drawn)
        self._open -= closed
        self._asked.clear()
        if closed:
            redraw_views()


def _pointer(context: Any) -> int:
    return context.area.as_pointer() if context.area else 0


def _areas() -> list[Any]:
    return [area for window in bpy.context.window_manager.windows for area in window.screen.areas]


def _shows_tab(area: Any) -> bool:
    if area.type == "PROPERTIES":
        return area.spaces.active.context == "PHYSICS"
    if area.type != "VIEW_3D" or not area.spaces.active.show_region_ui:
        return False
    return any(region.type == "UI" and region.active_panel_category == "Sinew" for region in area.regions)


PINS = OpenPanel()
