"""Mesh collider: signed distance to the closest point, and detection of points that passed through.

A point has passed through the surface if it begins a step outside and its path crosses the surface. The closest point
at the end of the path may be anywhere on the surface. So the face that the path crossed first pushes the point back.
Fast bodies therefore do not tunnel through thin plates, and sheets have two sides without any orientation. The path is
relative to the closest face, so that fast colliders are detected as well as fast bodies. A path that only cuts a corner
of a solid does not count as passing through. Counting the path would pull back points that slide around an edge, and
make their gap jump.

A point that begins a step on the surface has no definite side, since the round-off of single-precision coordinates
decides. At a solid the point counts as outside. At a sheet the point counts as lying on the side of the body, opposite
to the body's outward direction at the point.
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
"""Cosine between the face normals at the ends of a path through a solid below which the path passes through.

The ends are the entry and the exit. Paths with a larger cosine only cut a corner. If a path ends inside, the direction
to the closest point replaces the normal at the exit.
"""

ROUND_OFF = 1e-12
"""Distance below which a point lies on the surface, as a fraction of the largest coordinate.

The direction to the closest point is then undefined.
"""


TOUCH = 1e-6
"""Distance below which a point touches at the beginning of a step, as a fraction of the largest coordinate.

The value is 8 float32 epsilons.
"""

PIERCED = 0.2
"""Largest depth of a point behind a sheet that is moved back, as a fraction of ``sheet_thickness``.

``sheet_thickness`` is the least distance at which sheets begin to push. The point is moved back to the side of its
body.
"""

LEAN = 0.1
"""Smallest absolute cosine between a body's outward direction and a sheet's normal that decides on a side.

The outward direction then decides on which side of the sheet the body is.
"""


class MeshCollider:
    """Collider that moves from one pose to another during a step.

    Parameters
    ----------
    surface : ColliderSurface
    before, after : ColliderPose
        Poses at the step's beginning and end; the same object if the collider stands still.
    thickness : m, distance at which the collider begins to push
    sheet_thickness : m, lower bound of ``thickness`` for sheets
        It must exceed the depth to which points penetrate at rest. A point that penetrates deeper reaches the other
        side of the sheet, and could stay on that side in the next step.
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
        """Return the collider for the contact points of a body during one step.

        ``points`` (p,3), m: contact points at the step's beginning.
        ``outward`` (p,3): unit vectors that point out of the body at the points; 0 where undefined.
        """
        return MeshColliderStep(self, np.ascontiguousarray(points), outward)


class MeshColliderStep:
    """Mesh collider during one step, for the contact points of one body."""

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
        """Return the contacts of points (p,3), m, with the collider at the end of the step."""
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
    """Return the largest absolute coordinate, m, of a point and a triangle. Round-off is proportional to it."""
    size = 0.0
    for i in range(3):
        size = max(size, abs(y[i]))
        for k in range(3):
            size = max(size, abs(t[k, i]))
    return size


@inner_kernel
def _turn(t, n, to, to_n, out):
    """Write the rotation of a triangle between two poses to ``out`` (3,3)."""
    A, B = np.empty((3, 3)), np.empty((3, 3))
    turns = _frame(t, n, A) and _frame(to, to_n, B)
    for i in range(3):
        for j in range(3):
            out[i, j] = 1.0 if i == j and not turns else 0.0
            for k in range(3):
                out[i, j] += B[i, k] * A[j, k] if turns else 0.0


@inner_kernel
def _frame(t, n, out):
    """Write the orthonormal axes of a triangle to ``out`` (3,3). Return False for a triangle without area."""
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
    """Return 1 if a point has to stay on the side to which the sheet's normal points, else -1.

    The side is uncertain near the sheet. The point then has to stay on the side of its body, opposite to ``outward``.
    """
    height, lean = dot(n, away), dot(n, outward)
    above = length <= pierced and abs(height) > 0.9 * length
    if (above or length <= touch) and abs(lean) >= LEAN:
        return -1.0 if lean > 0.0 else 1.0
    return 1.0 if height >= 0.0 else -1.0


@parallel_kernel
def _approach(first, last, points, outward, before, after, solid, thickness, pierced, found, distance, start):
    """Compute the contacts of points at the beginning of a step, their signed distances, m, and ``start``.

    ``start`` are the points, moved by the motion of their closest faces from the pose ``before`` to the pose ``after``.
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
def _contacts(first, last, points, start, start_distance, before_corners, after, solid, thickness, reach, found):
    """Write the contacts of points (p,3), m, at the end of a step to ``found``."""
    corners, normals, tree = after.corners, after.normals, after.tree
    for p in range(first, last):
        y = points[p]
        displacement = minus(y, start[p])
        went = np.sqrt(dot(displacement, displacement))
        if start_distance[p] - went > reach or not np.isfinite(went):
            continue
        w, n = np.zeros(3), np.empty(3)
        bound = (abs(start_distance[p]) + went) * (1.0 + 1e-9) + 1e-300
        tri, d2 = nearest_triangle(y, bound * bound, corners, tree, w)
        if tri < 0:
            tri, d2 = nearest_triangle(y, np.inf, corners, tree, w)
        at = combine(w, corners[tri])
        away, length = minus(y, at), np.sqrt(d2)
        sign = -1.0 if solid[tri] and dot(feature_normal(after, tri, w), away) < 0.0 else 1.0
        hit = -1
        if start_distance[p] >= 0.0 and went >= (start_distance[p] + length) * (1.0 - 1e-9):
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
    """Return True if a path through a solid crosses it from one side to the other, by its face normals."""
    return dot(n, m) < SAME_WAY


@inner_kernel
def _gap(y, start, corners, normals, tri, away, length, sign, hit, solid, n):
    """Return the signed distance, m, of a point y from the collider, and write its gradient to n (3,)."""
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
