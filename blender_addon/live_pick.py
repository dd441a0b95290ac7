"""What lies under the mouse while a body is played with, and where a drag leads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from bpy_extras.view3d_utils import region_2d_to_location_3d, region_2d_to_origin_3d, region_2d_to_vector_3d
from mathutils import Vector

if TYPE_CHECKING:
    from .live import Session

CLICK = 3
"""Pixels that the mouse may move in a click."""
NEAR_PIN = 12.0
"""Pixels around a pin's marker that count as on it, at a scale of one."""


@dataclass(frozen=True)
class Drag:
    """A vertex in the hand: ``depth`` (3,) lies in the plane, parallel to the view, in which the mouse leads it, and
    ``offset`` (3,) from the mouse's place there to the vertex's; both m, world space.
    """

    vertex: int
    depth: np.ndarray
    offset: np.ndarray
    metres: float

    def target(self, context: Any, where: tuple[int, int]) -> np.ndarray:
        """Where the vertex is led to when the mouse is at some pixels of the region, (3,), m."""
        depth = Vector(self.depth / self.metres)
        place = region_2d_to_location_3d(context.region, context.region_data, where, depth)
        return self.metres * np.array(place) + self.offset


def surface_at(session: Session, context: Any, where: tuple[int, int]) -> Drag | None:
    """The vertex of the body nearest to what is seen at some pixels of the region, or None."""
    region, data = context.region, context.region_data
    origin = session.metres * np.array(region_2d_to_origin_3d(region, data, where))
    direction = np.array(region_2d_to_vector_3d(region, data, where))
    positions, triangles = session.view.positions(), session.view.triangles
    hit = first_hit(positions, triangles, origin, direction)
    if hit is None:
        return None
    triangle, place = hit
    corners = triangles[triangle]
    vertex = int(corners[np.argmin(np.linalg.norm(positions[corners] - place, axis=1))])
    return Drag(vertex, place, positions[vertex] - place, session.metres)


def pin_at(session: Session, context: Any, where: tuple[int, int]) -> Drag | None:
    """The pin whose marker is at some pixels of the region, or None."""
    scale = context.preferences.system.ui_scale
    for vertex, _held, mark in session.view.grab_marks(context.region, context.region_data):
        if np.hypot(mark[0] - where[0], mark[1] - where[1]) <= NEAR_PIN * scale:
            target = session.state.grabs[vertex].target
            shift = Drag(vertex, target, np.zeros(3), session.metres).target(context, where)
            return Drag(vertex, target, target - shift, session.metres)
    return None


def first_hit(
    positions: np.ndarray, triangles: np.ndarray, origin: np.ndarray, direction: np.ndarray
) -> tuple[int, np.ndarray] | None:
    """The first triangle (t,3) that a ray meets, and the place (3,); None when it meets none. Both sides count
    (Moller and Trumbore 1997).
    """
    a, b, c = positions[triangles].transpose(1, 0, 2)
    e, f = b - a, c - a
    p = np.cross(direction, f)
    determinant = np.einsum("ti,ti->t", e, p)
    # Degenerate and edge-on triangles divide by zero and are left out by the comparisons.
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = 1.0 / determinant
        s = origin - a
        u = np.einsum("ti,ti->t", s, p) * inverse
        q = np.cross(s, e)
        v = (q @ direction) * inverse
        distance = np.einsum("ti,ti->t", f, q) * inverse
        hit = (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & (distance > 0.0)
    if not hit.any():
        return None
    nearest = int(np.flatnonzero(hit)[np.argmin(distance[hit])])
    return nearest, origin + distance[nearest] * direction
