"""Mesh collider: signed distance to the closest point, and a check for points that passed through the surface.

A point that begins a step outside and whose path crosses the surface has passed through, wherever its closest point is.
The face that it crossed first then pushes it back. Fast bodies therefore do not tunnel through thin plates, and sheets
have two sides without any orientation. The path is relative to the closest face, so that fast colliders are detected as
well as fast bodies. A path that cuts a solid's corner does not count: points that slide around an edge would be pulled
back, and their gap would jump.

A point that begins a step on the surface has no definite side, since round-off of single-precision coordinates decides.
It counts as outside a solid, and on that side of a sheet from which its body's outward direction points into the sheet.
"""

from __future__ import annotations

import numpy as np

from ...foundation.kernels.jit import inlined, inner_kernel, parallel_kernel
from ...foundation.kernels.simd_math import combine, cross, dot, minus, moved, times
from ...geometry.mesh.closest_point import distances, first_hit, nearest_triangle
from .collider_pose import ColliderPose, feature_normal
from .collider_surface import ColliderSurface
from .obstacle import Contacts
from .sheet_thickness import contact_distance

SAME_WAY = -0.5
"""Cosine between the normals at a path's entry and exit (or shortest exit) below which it goes through the solid."""

ROUND_OFF = 1e-12
"""Distance over the largest coordinate below which a point lies on the surface, without a direction to the surface."""


TOUCH = 1e-6
"""Distance over the largest coordinate below which a point touches at a step's beginning: 8 float32 epsilons."""

PIERCED = 0.2
"""Depth behind a sheet, as a fraction of ``sheet_thickness``, up to which a point is moved back to its body's side."""

LEAN = 0.1
"""Least cosine, in absolute value, between a body's outward direction and a sheet's normal that decides the side."""


class MeshCollider:
    """A collider that moves from one pose to another during a step.

    Parameters
    ----------
    surface : ColliderSurface
    before, after : ColliderPose
        Poses at the step's beginning and end; the same object if the collider stands still.
    thickness, sheet_thickness : float
        Distance at which solids begin to push, and its lower bound for sheets, m. That bound must exceed the
        penetration at rest: a point that began a step behind a sheet would stay there.
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
        self.thickness = contact_distance(surface.solid, thickness, sheet_thickness)

    def begin_step(self, points: np.ndarray, outward: np.ndarray) -> MeshColliderStep:
        """Return the collider in a step from points at (p,3) m with the body's outward directions (p,3), unit or 0."""
        return MeshColliderStep(self, np.ascontiguousarray(points), outward)


class MeshColliderStep:
    """A mesh collider during one step, for the contact points of one body."""

    def __init__(self, collider: MeshCollider, points: np.ndarray, outward: np.ndarray) -> None:
        self._collider = collider
        after, before = collider.after, collider.before
        count = len(points)
        self.initial_contacts = Contacts(np.empty(count), np.zeros((count, 3)), np.empty((count, 3)))
        self._start, distance = np.empty((count, 3)), np.empty(count)
        numbers = collider.surface.solid, collider.thickness, collider.pierced
        _approach(count, points, outward, before, after, *numbers, self.initial_contacts, distance, self._start)
        # Points outside cannot touch before they have moved by their distance to the collider's final pose.
        self._clear = distance
        if after is not before:
            outside = distance >= 0.0
            away = np.empty(int(np.count_nonzero(outside)))
            distances(len(away), self._start[outside], after.corners, after.tree, away)
            self._clear[outside] = away

    def contacts(self, points: np.ndarray) -> Contacts:
        """Return the contacts of points (p,3) m with the collider at the end of the step."""
        collider, count = self._collider, len(points)
        found = Contacts(np.full(count, np.inf), np.zeros((count, 3)), np.zeros((count, 3)))
        queries = np.ascontiguousarray(points), self._start, self._clear
        numbers = collider.surface.solid, collider.thickness, float(collider.thickness.max())
        _contacts(count, *queries, collider.before.corners, collider.after, *numbers, found)
        return found


@inlined
def _set(out, a):
    out[0], out[1], out[2] = a[0], a[1], a[2]


@inner_kernel
def _magnitude(y, t):
    """Return the largest absolute coordinate of a point y and a triangle t (3,3), the scale of their round-off."""
    size = 0.0
    for i in range(3):
        size = max(size, abs(y[i]))
        for k in range(3):
            size = max(size, abs(t[k, i]))
    return size


@inner_kernel
def _turn(t, n, to, to_n, out):
    """Set ``out`` (3,3) to the rotation from the frame of a triangle t with unit normal n to that of its other pose,
    ``to`` and ``to_n``; to the identity if either has no area.
    """
    A, B = np.empty((3, 3)), np.empty((3, 3))
    turns = _frame(t, n, A) and _frame(to, to_n, B)
    for i in range(3):
        for j in range(3):
            out[i, j] = 1.0 if i == j and not turns else 0.0
            for k in range(3):
                out[i, j] += B[i, k] * A[j, k] if turns else 0.0


@inner_kernel
def _frame(t, n, out):
    """Set the columns of ``out`` to an orthonormal frame of triangle t, unit normal n; return False without area."""
    side = minus(t[1], t[0])
    length = np.sqrt(dot(side, side))
    if length == 0.0 or dot(n, n) < 0.5:
        return False
    u = side[0] / length, side[1] / length, side[2] / length
    v = cross(n, u)
    for i in range(3):
        out[i, 0], out[i, 1], out[i, 2] = u[i], v[i], n[i]
    return True


@inner_kernel
def _side_of_sheet(away, length, n, outward, touch, pierced):
    """Return the side of a sheet with normal n, 1 or -1, on which to keep a point at the offset ``away``, of norm
    ``length``, from its closest point. Within ``touch`` or ``pierced`` m the body's ``outward`` direction decides.
    """
    height, lean = dot(n, away), dot(n, outward)
    above = length <= pierced and abs(height) > 0.9 * length
    if (above or length <= touch) and abs(lean) >= LEAN:
        return -1.0 if lean > 0.0 else 1.0
    return 1.0 if height >= 0.0 else -1.0


@parallel_kernel
def _approach(first, last, points, outward, before, after, solid, thickness, pierced, found, distance, start):
    """Compute the contacts ``found`` at a step's beginning, the signed ``distance`` of each point from the collider in
    the pose ``before``, and its position ``start`` after moving with the closest face to the pose ``after``.

    Points that touch the surface or have pierced a sheet start just off the surface, with distance 0.
    """
    corners, normals = before.corners, before.normals
    for p in range(first, last):
        w, up, R = np.zeros(3), np.empty(3), np.empty((3, 3))
        tri, d2 = nearest_triangle(points[p], np.inf, corners, before.tree, w)
        n, at = feature_normal(before, tri, w), combine(w, corners[tri])
        away = minus(points[p], at)
        height, steep = dot(n, away), dot(n, n)
        length = np.sqrt(d2)
        touch = TOUCH * _magnitude(points[p], corners[tri])
        sign, side = (-1.0 if height < 0.0 else 1.0), 1.0
        if not solid[tri]:
            side = _side_of_sheet(away, length, normals[tri], outward[p], touch, pierced)
            n, steep = normals[tri], 1.0
            sign = -1.0 if side * dot(n, away) < 0.0 else 1.0
        held = length <= touch or (not solid[tri] and sign < 0.0)
        for i in range(3):
            up[i] = side * n[i] / np.sqrt(steep) if held and steep > 0.0 else sign * away[i] / max(length, 1e-300)
        found.gaps[p] = sign * length - thickness[tri]
        distance[p] = 0.0 if held else sign * length
        _turn(corners[tri], normals[tri], after.corners[tri], after.normals[tri], R)
        then, n = combine(w, after.corners[tri]), times(R, up)
        _set(found.normals[p], n)
        _set(start[p], moved(then, touch if held else sign * length, n))
        _set(found.obstacle_displacements[p], minus(then, at))


@parallel_kernel
def _contacts(first, last, points, start, clear, before_corners, after, solid, thickness, reach, found):
    """Compute the contacts ``found`` of points at the end of a step: gaps, push directions, and the displacements of
    the collider at the closest points. Points farther than ``reach`` from the collider are skipped.
    """
    corners, normals, tree = after.corners, after.normals, after.tree
    for p in range(first, last):
        y = points[p]
        displacement = minus(y, start[p])
        went = np.sqrt(dot(displacement, displacement))
        if clear[p] - went > reach or not np.isfinite(went):
            continue
        w, n = np.zeros(3), np.empty(3)
        bound = (abs(clear[p]) + went) * (1.0 + 1e-9) + 1e-300
        tri, d2 = nearest_triangle(y, bound * bound, corners, tree, w)
        if tri < 0:
            tri, d2 = nearest_triangle(y, np.inf, corners, tree, w)
        at = combine(w, corners[tri])
        away, length = minus(y, at), np.sqrt(d2)
        sign = -1.0 if solid[tri] and dot(feature_normal(after, tri, w), away) < 0.0 else 1.0
        hit = -1
        if clear[p] >= 0.0 and went >= (clear[p] + length) * (1.0 - 1e-9):
            hit = first_hit(start[p], y, corners, tree)
            if hit >= 0 and solid[hit] and sign > 0.0:
                left = first_hit(y, start[p], corners, tree)
                hit = hit if left < 0 or _opposite(normals[hit], normals[left]) else -1
        gap = _gap(y, start[p], corners, normals, tri, away, length, sign, hit, solid[tri], n)
        found.gaps[p] = gap - thickness[tri]
        found.normals[p] = n
        _set(found.obstacle_displacements[p], minus(at, combine(w, before_corners[tri])))


@inner_kernel
def _opposite(n, m):
    """Return True if a path that enters by a face with normal n and exits by one with normal m crossed the solid."""
    return dot(n, m) < SAME_WAY


@inner_kernel
def _gap(y, start, corners, normals, tri, away, length, sign, hit, solid, n):
    """Return the signed distance of point y, and set n (3,) to its gradient. ``away`` is y minus the closest point, in
    face ``tri``; ``sign`` is -1 inside a solid; ``hit`` is the first face on the path from ``start`` to y, or -1.
    """
    if length <= ROUND_OFF * _magnitude(y, corners[tri]):
        # On the surface: push outwards, and off a sheet to the side that the point came from.
        turn = 1.0 if solid or dot(normals[tri], minus(start, y)) >= 0.0 else -1.0
        n[:] = turn * normals[tri]
        return 0.0
    if hit >= 0:
        turn = 1.0 if dot(normals[hit], minus(start, y)) >= 0.0 else -1.0
        returns = -turn * dot(normals[hit], away) >= SAME_WAY * length
        if returns and (sign < 0.0 or not solid):
            sign = -1.0
        else:
            n[:] = turn * normals[hit]
            return turn * dot(normals[hit], minus(y, corners[hit, 0]))
    _set(n, (sign * away[0] / length, sign * away[1] / length, sign * away[2] / length))
    return sign * length
