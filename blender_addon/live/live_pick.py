"""Picking in live mode: the vertex under the mouse, and its target while it is dragged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from bpy_extras.view3d_utils import region_2d_to_location_3d
from mathutils import Vector

from ..picking.picking import Surface, viewport_of

if TYPE_CHECKING:
    from .live_session import Session

CLICK = 3
"""Maximum mouse movement of a click, pixels."""
NEAR_PIN = 12.0
"""Pick radius of a pin's marker, pixels at a UI scale of 1."""
NEAR_BODY = 10.0
"""Maximum distance of the mouse from the body at which a vertex is picked, pixels at a UI scale of 1."""


@dataclass(frozen=True)
class Drag:
    """Vertex that is dragged by the mouse, in a plane parallel to the view.

    Attributes
    ----------
    vertex : index of the vertex
    depth : point (3,), m, world space, through which the plane passes
    offset : vector (3,), m, world space, from the point under the mouse to the target of the vertex
    metres : length of a Blender unit, m
    """

    vertex: int
    depth: np.ndarray
    offset: np.ndarray
    metres: float

    def target(self, context: Any, where: tuple[int, int]) -> np.ndarray:
        """Return the target of the vertex for a mouse position, (3,) m in world space.

        ``where``: mouse position in pixels of the region.
        """
        depth = Vector(self.depth / self.metres)
        point = region_2d_to_location_3d(context.region, context.region_data, where, depth)
        return self.metres * np.array(point) + self.offset


def surface_at(session: Session, context: Any, where: tuple[int, int]) -> Drag | None:
    """Return a :class:`Drag` of the body's vertex nearest to a pixel of the region.

    Returns None if the body is more than ``NEAR_BODY`` pixels from the pixel ``where``. This distance grows with the UI
    scale.
    """
    view, (surface, triangles) = session.view, session.view.surface()
    shown = Surface(viewport_of(context.region, context.region_data, session.metres), surface, triangles)
    hit = shown.first_hit(where)
    if hit is not None:
        corners = triangles[hit.triangle]
        nearest = corners[np.argmin(np.linalg.norm(surface[corners] - hit.position, axis=1))]
        vertex = view.carrier_of(int(nearest))
        return Drag(vertex, hit.position, view.seen()[vertex] - hit.position, session.metres)
    near = shown.vertex_at(where, NEAR_BODY * context.preferences.system.ui_scale)
    if near is None:
        return None
    vertex = view.carrier_of(near)
    return _taken(vertex, view.seen()[vertex], session.metres, context, where)


def _taken(vertex: int, point: np.ndarray, metres: float, context: Any, where: tuple[int, int]) -> Drag:
    """Return a :class:`Drag` that keeps the offset from the mouse to a vertex at ``point`` (3,), m."""
    return Drag(vertex, point, point - Drag(vertex, point, np.zeros(3), metres).target(context, where), metres)


def pin_at(session: Session, context: Any, where: tuple[int, int]) -> Drag | None:
    """Return a :class:`Drag` of the grabbed vertex with its marker at a pixel of the region.

    A marker shows the target to which live mode pulls a vertex. Returns None if no marker is at the pixel ``where``.
    """
    scale = context.preferences.system.ui_scale
    for vertex, _held, mark in session.view.grab_marks(context.region, context.region_data):
        if np.hypot(mark[0] - where[0], mark[1] - where[1]) <= NEAR_PIN * scale:
            return _taken(vertex, session.state.grabs[vertex].target, session.metres, context, where)
    return None
