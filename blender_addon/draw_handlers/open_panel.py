"""Tracking of open panels. Blender calls a panel's draw function, but does not report that a panel is closed or hidden.

A panel counts as closed if Blender draws the parent panel but not the panel. A panel counts as hidden if no editor
shows the tab that contains the panel.
"""

from __future__ import annotations

from typing import Any

import bpy

from ..window.redraw import redraw_views

TICK = 0.1
"""Time in which Blender draws all panels of a region, s."""


class OpenPanel:
    """State of a panel, open or closed, in each editor. The 3D Views draw an overlay while a panel is open."""

    def __init__(self) -> None:
        self._open: set[int] = set()
        self._drawn: set[int] = set()
        self._asked: set[int] = set()

    @property
    def is_open(self) -> bool:
        """True if the panel is open in at least one editor that shows the panel's tab."""
        return any(area.as_pointer() in self._open for area in _areas() if _shows_tab(area))

    def drawn(self, context: Any) -> None:
        """Record that the panel is drawn, and so is open, in the context's editor."""
        area = _pointer(context)
        self._drawn.add(area)
        if area not in self._open:
            self._open.add(area)
            redraw_views()

    def parent_drawn(self, context: Any) -> None:
        """Record that the parent panel is drawn in the context's editor.

        If Blender does not draw this panel within ``TICK`` s, this panel counts as closed.
        """
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
