"""A mesh as obstacle: signed distance to the closest point, and a second look at points that passed through.

A point that begins a step outside and whose way crosses the surface has passed through, whatever the closest point
says: the face that it crossed first holds it back then. That keeps fast bodies from leaving thin plates by the far
side, and tells the sides of a sheet apart without any orientation. The way is taken in the frame of the closest face,
so that fast colliders are seen as well as fast bodies. A way that cuts a solid's corner has not passed through: what
slides around an edge would else be pulled back, and its gap jump.

A point that begins on the surface has no side of its own: coordinates of single precision put it on either. It touches
a solid from outside, and a sheet from the side on which the body's material lies behind it.
"""

from __future__ import annotations

import numpy as np

from ..jit import kernel, parallel_kernel
from ..mesh.closest_point import first_hit, nearest_triangle
from .collider_pose import ColliderPose, feature_normal
from .collider_surface import ColliderSurface
from .obstacle import Contacts
from .skin import kept_off

SAME_WAY = -0.5
"""Cosine between the entered face's normal and the nearest way out, or the face that the way left by, under which that
leads to the far side."""

ROUND_OFF = 1e-12
"""Part of the coordinates under which a point lies on the surface, and the nearest way has no direction."""


TOUCH = 1e-6
"""Part of the coordinates under which a point that begins a step there touches: eight times their own round-off."""

PIERCED = 0.2
"""Part of the least thickness of sheets by which a point may be beyond a sheet and still be held to its body's side."""

LEAN = 0.1
"""Cosine between the way out of the body and a sheet's normal from which it tells the side."""


class MeshCollider:
    """A collider that moves from one pose to another during a step.

    Parameters
    ----------
    surface : ColliderSurface
    before, after : ColliderPose
        At the step's beginning and end; one and the same where it stands still.
    thickness, sheet_thickness : float
        Distance at which solids, and at which sheets, begin to push, m. A sheet's must be larger than points sink in
        rest: a point that began a step beyond it would be kept there.
    """

    def __init__(
        self,
        surface: ColliderSurface,
        before: ColliderPose,
        after: ColliderPose,
        thickness: float,
        sheet_thickness: float,
    ) -> None:
        self.surface, self.before, self.after = surface, before, after
        self.pierced = PIERCED * sheet_thickness
        self.thickness = kept_off(surface.solid, thickness, sheet_thickness)

    def begin(self, points: np.ndarray, outward: np.ndarray) -> MeshApproach:
        """The step of points that start at (p,3), where ``outward`` (p,3), unit or 0, leaves the body."""
        return MeshApproach(self, np.ascontiguousarray(points), outward)


class MeshApproach:
    """A mesh collider during one step."""

    def __init__(self, collider: MeshCollider, points: np.ndarray, outward: np.ndarray) -> None:
        self._collider = collider
        after, before = collider.after, collider.before
        count = len(points)
        gaps, distance = np.empty(count), np.empty(count)
        normals, shifts, self._start = np.zeros((count, 3)), np.empty((count, 3)), np.empty((count, 3))
        _approach(
            count,
            points,
            outward,
            after.corners,
            before.corners,
            before.normals,
            after.normals,
            before.edge_normals,
            before.corner_normals,
            *before.tree,
            collider.surface.solid,
            collider.thickness,
            collider.pierced,
            gaps,
            normals,
            shifts,
            distance,
            self._start,
        )
        # Points outside cannot touch before they have moved by their distance from where the collider ends.
        self._clear = distance
        if after is not before:
            outside = distance >= 0.0
            away = np.empty(int(np.count_nonzero(outside)))
            _distances(len(away), self._start[outside], after.corners, *after.tree, away)
            self._clear[outside] = away
        self.first = Contacts(gaps, normals, shifts)

    def contacts(self, points: np.ndarray) -> Contacts:
        """How points (p,3) stand to the collider at the end of the step."""
        collider, after = self._collider, self._collider.after
        count = len(points)
        found = Contacts(np.full(count, np.inf), np.zeros((count, 3)), np.zeros((count, 3)))
        _contacts(
            count,
            np.ascontiguousarray(points),
            self._start,
            self._clear,
            after.corners,
            collider.before.corners,
            after.normals,
            after.edge_normals,
            after.corner_normals,
            *after.tree,
            collider.surface.solid,
            collider.thickness,
            float(collider.thickness.max()),
            *found,
        )
        return found


@kernel
def _point_of(t, w, i):
    return w[0] * t[0, i] + w[1] * t[1, i] + w[2] * t[2, i]


@kernel
def _magnitude(y, t):
    """Largest coordinate of a point and a triangle: the scale of their round-off."""
    size = 0.0
    for i in range(3):
        size = max(size, abs(y[i]))
        for k in range(3):
            size = max(size, abs(t[k, i]))
    return size


@kernel
def _turn(t, n, to, to_n, out):
    """The rotation that takes a triangle's frame to that of its other pose; the identity when one has no area."""
    A, B = np.empty((3, 3)), np.empty((3, 3))
    turns = _frame(t, n, A) and _frame(to, to_n, B)
    for i in range(3):
        for j in range(3):
            out[i, j] = 1.0 if i == j and not turns else 0.0
            for k in range(3):
                out[i, j] += B[i, k] * A[j, k] if turns else 0.0


@kernel
def _frame(t, n, out):
    """An orthonormal frame of a triangle with unit normal n, in the columns of out; False when it has no area."""
    length = 0.0
    for i in range(3):
        out[i, 0] = t[1, i] - t[0, i]
        length += out[i, 0] * out[i, 0]
    length = np.sqrt(length)
    if length == 0.0 or n[0] * n[0] + n[1] * n[1] + n[2] * n[2] < 0.5:
        return False
    for i in range(3):
        out[i, 0] /= length
        out[i, 2] = n[i]
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        out[i, 1] = n[j] * out[k, 0] - n[k] * out[j, 0]
    return True


@kernel
def _side_of_sheet(away, length, n, outward, touch, pierced):
    """1 or -1: which side of a sheet with normal n a point belongs to that is ``away`` from its closest point."""
    height, lean = 0.0, 0.0
    for i in range(3):
        height += n[i] * away[i]
        lean += n[i] * outward[i]
    above = length <= pierced and abs(height) > 0.9 * length
    if (above or length <= touch) and abs(lean) >= LEAN:
        return -1.0 if lean > 0.0 else 1.0
    return 1.0 if height >= 0.0 else -1.0


@parallel_kernel
def _approach(
    first,
    last,
    points,
    outward,
    after_corners,
    corners,
    normals,
    after_normals,
    edge_normals,
    corner_normals,
    order,
    begin,
    end,
    child,
    low,
    high,
    solid,
    thickness,
    pierced,
    gaps,
    out_normals,
    shifts,
    distance,
    start,
):
    """At the pose before: gaps, signed distances. At the pose after: normals, shifts, the points carried along.

    Points that touch, or have pierced a sheet, are carried to just off the surface, and their distance is 0.
    """
    for p in range(first, last):
        w, away, up, R = np.zeros(3), np.empty(3), np.empty(3), np.empty((3, 3))
        tri, d2 = nearest_triangle(points[p], np.inf, corners, order, begin, end, child, low, high, w)
        n, height, steep = feature_normal(normals, edge_normals, corner_normals, tri, w), 0.0, 0.0
        for i in range(3):
            away[i] = points[p, i] - _point_of(corners[tri], w, i)
            height += n[i] * away[i]
            steep += n[i] * n[i]
        length = np.sqrt(d2)
        touch = TOUCH * _magnitude(points[p], corners[tri])
        sign, side = (-1.0 if height < 0.0 else 1.0), 1.0
        if not solid[tri]:
            side = _side_of_sheet(away, length, normals[tri], outward[p], touch, pierced)
            n, steep, height = normals[tri], 1.0, 0.0
            for i in range(3):
                height += n[i] * away[i]
            beyond = side * height < 0.0
            sign = -1.0 if beyond else 1.0
        held = length <= touch or (not solid[tri] and sign < 0.0)
        for i in range(3):
            up[i] = side * n[i] / np.sqrt(steep) if held and steep > 0.0 else sign * away[i] / max(length, 1e-300)
        gaps[p] = sign * length - thickness[tri]
        distance[p] = 0.0 if held else sign * length
        _turn(corners[tri], normals[tri], after_corners[tri], after_normals[tri], R)
        for i in range(3):
            for k in range(3):
                out_normals[p, i] += R[i, k] * up[k]
            ahead = touch if held else sign * length
            start[p, i] = _point_of(after_corners[tri], w, i) + ahead * out_normals[p, i]
            shifts[p, i] = _point_of(after_corners[tri], w, i) - _point_of(corners[tri], w, i)


@parallel_kernel
def _distances(first, last, points, corners, order, begin, end, child, low, high, out):
    """Unsigned distances of points from triangles."""
    for p in range(first, last):
        w = np.zeros(3)
        _tri, d2 = nearest_triangle(points[p], np.inf, corners, order, begin, end, child, low, high, w)
        out[p] = np.sqrt(d2)


@parallel_kernel
def _contacts(
    first,
    last,
    points,
    start,
    clear,
    corners,
    before_corners,
    normals,
    edge_normals,
    corner_normals,
    order,
    begin,
    end,
    child,
    low,
    high,
    solid,
    thickness,
    reach,
    gaps,
    out_normals,
    shifts,
):
    """Gaps, directions of the push, and the collider's own movement at the closest points."""
    for p in range(first, last):
        y = points[p]
        moved = 0.0
        for i in range(3):
            moved += (y[i] - start[p, i]) ** 2
        moved = np.sqrt(moved)
        if clear[p] - moved > reach or not np.isfinite(moved):
            continue
        w, n = np.zeros(3), np.empty(3)
        bound = (abs(clear[p]) + moved) * (1.0 + 1e-9) + 1e-300
        tri, d2 = nearest_triangle(y, bound * bound, corners, order, begin, end, child, low, high, w)
        if tri < 0:
            tri, d2 = nearest_triangle(y, np.inf, corners, order, begin, end, child, low, high, w)
        away = np.empty(3)
        feature = feature_normal(normals, edge_normals, corner_normals, tri, w)
        side = 0.0
        for i in range(3):
            away[i] = y[i] - _point_of(corners[tri], w, i)
            side += feature[i] * away[i]
        length = np.sqrt(d2)
        sign = -1.0 if solid[tri] and side < 0.0 else 1.0
        hit = -1
        if clear[p] >= 0.0 and moved >= (clear[p] + length) * (1.0 - 1e-9):
            hit = first_hit(start[p], y, corners, order, begin, end, child, low, high)
            if hit >= 0 and solid[hit] and sign > 0.0:
                left = first_hit(y, start[p], corners, order, begin, end, child, low, high)
                hit = hit if left < 0 or _opposite(normals[hit], normals[left]) else -1
        gap = _gap(y, start[p], corners, normals, tri, away, length, sign, hit, solid[tri], n)
        gaps[p] = gap - thickness[tri]
        for i in range(3):
            out_normals[p, i] = n[i]
            shifts[p, i] = _point_of(corners[tri], w, i) - _point_of(before_corners[tri], w, i)


@kernel
def _opposite(n, m):
    """Whether a way in by a face with normal n and out by one with m went through the solid, not around its corner."""
    return n[0] * m[0] + n[1] * m[1] + n[2] * m[2] < SAME_WAY


@kernel
def _gap(y, start, corners, normals, tri, away, length, sign, hit, solid, n):
    """Signed distance of y, its gradient in n (3,). ``away`` is y less its closest point, ``hit`` the face that the
    way from ``start`` crossed first, or -1.
    """
    if length <= ROUND_OFF * _magnitude(y, corners[tri]):
        # On the surface: push outwards, and off a sheet to where the point came from.
        facing = 0.0
        for i in range(3):
            facing += normals[tri, i] * (start[i] - y[i])
        turn = 1.0 if solid or facing >= 0.0 else -1.0
        for i in range(3):
            n[i] = turn * normals[tri, i]
        return 0.0
    if hit >= 0:
        facing, back, below = 0.0, 0.0, 0.0
        for i in range(3):
            facing += normals[hit, i] * (start[i] - y[i])
            back -= normals[hit, i] * away[i]
            below += normals[hit, i] * (y[i] - corners[hit, 0, i])
        turn = 1.0 if facing >= 0.0 else -1.0
        returns = turn * back >= SAME_WAY * length
        if returns and (sign < 0.0 or not solid):
            sign = -1.0
        else:
            for i in range(3):
                n[i] = turn * normals[hit, i]
            return turn * below
    for i in range(3):
        n[i] = sign * away[i] / length
    return sign * length
