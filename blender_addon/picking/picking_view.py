"""Picking of a body's vertices in a 3D View, and drawing of the selection box."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..drawing import screen
from ..drawing.layer import Layer
from ..drawing.overlay_marks import PINS, shown_positions
from ..drawing.preview_colours import as_shown
from ..objects import linked
from ..scene_import.mesh_in import triangles_of, vertex_positions
from . import picking

TOOL = "sinew.pick_tool"
"""Identifier of the pick tool."""
NEAR = 12.0
"""Radius around the cursor in which a vertex is picked off the surface, pixels at a UI scale of 1."""
CLICK = 4
"""Maximum mouse movement of a click, pixels."""
COLOUR = (*as_shown(np.array(PINS)), 1.0)


def tool_is_chosen(context: Any) -> bool:
    """Return True if the pick tool is chosen in Object Mode."""
    tool = context.workspace.tools.from_space_view3d_mode("OBJECT", create=False)
    return tool is not None and tool.idname == TOOL and context.mode == "OBJECT"


def can_be_picked(obj: Any, space: Any) -> bool:
    """Return True if the object's vertices can be picked in the 3D View ``space``.

    Neither the object nor its mesh may be linked. The object or the duplicate with its bake must be visible.
    """
    is_own = not linked.is_linked(obj) and not linked.has_linked_mesh(obj)
    return is_own and seen_as(obj, space) is not None


def seen_as(obj: Any, space: Any) -> Any | None:
    """Return the object that shows a body in the 3D View ``space``: the body or the duplicate with its bake.

    Returns None if both are hidden.
    """
    both = (obj, obj.sinew.bake.result)
    return next((shown for shown in both if shown is not None and shown.visible_in_viewport_get(space)), None)


class Picked(picking.Surface):
    """Surface of a body in its present shape in a 3D View."""

    def __init__(self, obj: Any, context: Any) -> None:
        positions = shown_positions(obj, seen_as(obj, context.space_data), context.evaluated_depsgraph_get())
        shading = context.space_data.shading
        in_solid = shading.type == "SOLID" and shading.show_xray
        through = shading.show_xray_wireframe if shading.type == "WIREFRAME" else in_solid
        view = picking.viewport_of(context.region, context.region_data)
        super().__init__(view, positions, triangles_of(obj.data, mirrored=False), through)
        self._radius, self._mesh = NEAR * context.preferences.system.ui_scale, obj.data

    def at(self, where: picking.Pixel) -> np.ndarray:
        """Return the index of the vertex at the pixel ``where`` as an array (k,).

        The array is empty if there is no vertex. If the mesh has X symmetry, the mirror vertex is added.
        """
        vertex = self.vertex_at(where, self._radius)
        return self._with_mirrored(np.array([] if vertex is None else [vertex], dtype=np.int64))

    def in_box(self, start: picking.Pixel, end: picking.Pixel) -> np.ndarray:
        """Return the indices (k,) of the vertices in the box between two pixels.

        If the mesh has X symmetry, the mirror vertices are added.
        """
        return self._with_mirrored(self.vertices_in_box(np.minimum(start, end), np.maximum(start, end)))

    def _with_mirrored(self, vertices: np.ndarray) -> np.ndarray:
        if not self._mesh.use_mirror_x or not len(vertices):
            return vertices
        opposite = picking.mirrored(vertex_positions(self._mesh))[vertices]
        return np.concatenate([vertices, opposite[opposite >= 0]])


class Box(Layer):
    """Selection box from the pixel ``start`` to the mouse, drawn until :meth:`remove`."""

    def __init__(self, region: Any, start: tuple[int, int]) -> None:
        self._region, self._start, self._end = region, start, start
        super().__init__()

    @property
    def is_open(self) -> bool:
        """True if the mouse has moved farther than a click allows."""
        return max(abs(self._end[k] - self._start[k]) for k in range(2)) > CLICK

    def move(self, end: tuple[int, int]) -> None:
        """Move the corner of the box at the mouse to the pixel ``end``."""
        self._end = end
        self._region.tag_redraw()

    def remove(self) -> None:
        """Stop drawing."""
        super().remove()
        self._region.tag_redraw()

    def draw_over(self, context: Any) -> None:
        """Draw the edges of the box."""
        if context.region == self._region and self.is_open:
            screen.frame(self._start, self._end, COLOUR)
