"""Whether a panel is open: Blender says when one is drawn, and nothing when it is closed, hidden, or gone with its tab.

So one that was drawn is drawn anew after a while, as long as it is there.
"""

from __future__ import annotations

import bpy

from ..basics.redrawing import redraw, redraw_views

TICK = 0.3
"""Seconds after which a closed panel is known to be closed."""


class OpenPanel:
    """A panel, wherever it stands, that views show something for while it ``is_open``."""

    def __init__(self) -> None:
        self.is_open = self._was_drawn = False

    def drawn(self) -> None:
        """It is being drawn."""
        self._was_drawn = True
        if not self.is_open:
            self.is_open = True
            bpy.app.timers.register(self._look, first_interval=TICK, persistent=True)
            redraw_views()

    def _look(self) -> float | None:
        if not self._was_drawn:
            self.is_open = False
            redraw_views()
            return None
        self._was_drawn = False
        redraw(views=False)
        return TICK


PINS = OpenPanel()
