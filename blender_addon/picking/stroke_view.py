"""The 3D View in which a stroke is drawn, and the line that shows the stroke."""

from __future__ import annotations

from typing import Any, NamedTuple

import bpy
import gpu
from gpu_extras.batch import batch_for_shader

COLOUR = (1.0, 0.35, 0.25, 1.0)
WIDTH = 3.0
"""Width of the line, pixels."""


class StrokeView(NamedTuple):
    """Area of a 3D View, its space, and the region that shows the scene."""

    area: Any
    space: Any
    region: Any


def view_at(context: Any, where: tuple[int, int]) -> StrokeView | None:
    """Return the 3D View at a position in the window, pixels, or None."""
    for area in context.window.screen.areas:
        region = next((r for r in area.regions if r.type == "WINDOW"), None)
        if area.type == "VIEW_3D" and region is not None:
            if 0 <= where[0] - region.x < region.width and 0 <= where[1] - region.y < region.height:
                return StrokeView(area, area.spaces.active, region)
    return None


class Line:
    """Line along a growing ``path`` of positions in the window, pixels, until :meth:`remove`."""

    def __init__(self, view: StrokeView, path: list[tuple[int, int]]) -> None:
        self._view, self._path = view, path
        self._handle = bpy.types.SpaceView3D.draw_handler_add(self._draw, (), "WINDOW", "POST_PIXEL")

    def remove(self) -> None:
        """End the drawing."""
        bpy.types.SpaceView3D.draw_handler_remove(self._handle, "WINDOW")
        self._view.area.tag_redraw()

    def _draw(self) -> None:
        region = self._view.region
        if bpy.context.region != region or len(self._path) < 2:
            return
        points = [(x - region.x, y - region.y, 0.0) for x, y in self._path]
        shader = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR")
        shader.uniform_float("viewportSize", (region.width, region.height))
        shader.uniform_float("lineWidth", WIDTH)
        shader.uniform_float("color", COLOUR)
        batch_for_shader(shader, "LINE_STRIP", {"pos": points}).draw(shader)
