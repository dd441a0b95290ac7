"""Fraction of a tetrahedron inside a surface, and the centre of mass of that part: exact for closed surfaces.

The inside is where the generalised winding number w has ``|w| > 1/2``. Across a triangle w jumps by one, so in a tet T
it is known everywhere from its value at one point p in T and from the triangles clipped to T. Behind each triangle, as
seen from p, lies the triangle's shadow, in which w is lower by one (higher if p sees the triangle's back). T is cut
into four tets (p, F), each with a face F of T. Q is the piece of a triangle that lies in the tet (p, F). The shadow of
Q in (p, F) is the cone from p over the projection of Q onto F, without the cone from p over Q:

    volume inside T = [p inside] |T| - sum over pieces Q of (cone(p, projected Q) - cone(p, Q))

with signed volumes of cones, and likewise for the first moments. A triangle that lies in a face, an edge or a corner of
T changes the sum by round-off only. Coordinates are barycentric, so scale does not matter.

The formula holds if w takes at most two values in T, 0 and one other, which is tested by w at five points. Otherwise
(surfaces cross or overlap, or w passes smoothly through 1/2 at an opening) T is cut into eight tets, at most twice, and
each is measured separately. At the last level w is evaluated at p only, and the result is clamped to 0 to 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...foundation.kernels.jit import inlined, inner_kernel, parallel_kernel
from ...foundation.kernels.simd_math import combine, cross, dot, minus, moved, plus, times
from ..mesh.bounding_tree import STACK_SIZE, box_of, next_overlap
from ..mesh.winding_number import WindingNumber, winding_at

DEPTH = 2
"""Largest number of successive cuts of a tet into eight."""
CLEAR = 0.1
"""Distance of ``|w|`` from 1/2 below which the winding number w is uncertain: twice the error of its Taylor series."""
SHEET = 0.25
"""A surface is a sheet if ``|w|`` at the surface differs from 1/2 by less than this; w is the winding number. Across a
sheet, w passes from -1/2 to 1/2, so neither side is inside. Across the surface of a body, w passes from 0 to 1. Exactly
at the surface, round-off decides which of the two values is computed.
"""
CORNER = 1e-3
"""Lower bound on the barycentric coordinates of the inside part's centre of mass. A tet's mass is distributed to the
corners by these coordinates, so the bound gives every vertex some mass.
"""
_BASE = np.array([0.27, 0.24, 0.26, 0.23])
"""Barycentric coordinates of a tet's point p (see the module): near the middle, but on no plane in which a surface is
likely to lie.
"""
_ASKED = 0.2
"""The winding number is sampled at the tet's point p near the middle, and at four points near the corners: each corner
is moved by this fraction of the distance towards p.
"""


class VolumeFractions(NamedTuple):
    """Parts of m tets: how much of each tet lies inside a surface, and where.

    Attributes
    ----------
    fill : (m,) float64
        Fraction of each tet's volume that is inside, 0 to 1.
    middle : (m, 4) float64
        Barycentric coordinates of the inside part's centre of mass, each at least about ``CORNER``; 0.25 if ``fill`` is
        0.
    sheet : (m,) bool
        True if the tet contains a sheet: a piece of surface that encloses nothing, so that neither side is inside.
    """

    fill: np.ndarray
    middle: np.ndarray
    sheet: np.ndarray


def volume_fractions(corners: np.ndarray, winding: WindingNumber) -> VolumeFractions:
    """Return, for m positively oriented tets with ``corners`` (m,4,3), the parts that lie inside the surface of
    ``winding``.
    """
    corners = np.ascontiguousarray(corners, dtype=np.float64)
    m = len(corners)
    fill, moment, sheet = np.zeros(m), np.zeros((m, 4)), np.zeros(m, dtype=np.bool_)
    if winding.field is not None:
        _measure(m, corners, _BASE, winding.field, fill, moment, sheet)
    some = fill > 1e-12
    middle = np.full((m, 4), 0.25)
    middle[some] = np.maximum(moment[some] / fill[some, None], CORNER)
    middle /= middle.sum(axis=1, keepdims=True)
    return VolumeFractions(np.clip(fill, 0.0, 1.0), middle, sheet)


@inner_kernel
def _clipped(polygon, count, spare, plane):
    """Clip a polygon in place to one of the four half-spaces that bound a tet; return its new number of corners.

    The first ``count`` rows of ``polygon`` (8,3) are its corners: three barycentric coordinates (b0, b1, b2) each.
    ``spare`` (8,3) is scratch. For ``plane`` 0 to 2 the half-space is ``b[plane] >= 0``, for 3 ``b0 + b1 + b2 <= 1``.
    """
    kept = 0
    for k in range(count):
        a, b = polygon[k], polygon[(k + 1) % count]
        da = a[plane] if plane < 3 else 1.0 - a[0] - a[1] - a[2]
        db = b[plane] if plane < 3 else 1.0 - b[0] - b[1] - b[2]
        if da >= 0.0:
            spare[kept, 0], spare[kept, 1], spare[kept, 2] = a[0], a[1], a[2]
            kept += 1
        if (da >= 0.0) != (db >= 0.0):
            t = da / (da - db)
            spare[kept, 0], spare[kept, 1], spare[kept, 2] = moved(a, t, minus(b, a))
            kept += 1
    for k in range(kept):
        for i in range(3):
            polygon[k, i] = spare[k, i]
    return kept


@inner_kernel
def _add_shadow(polygon, count, shadow):
    """Add the signed volume and the three first moments of a polygon's shadow to ``shadow`` (4,).

    The polygon lies in a tet of volume 1 with the apex p. Its shadow is the region behind the polygon, as seen from p,
    up to the face opposite to p. The first ``count`` rows of ``polygon`` are the polygon's corners: their barycentric
    coordinates for the three corners of that face. The moments are the integrals of these coordinates over the shadow.
    """
    reach = np.empty(count)
    for k in range(count):
        reach[k] = polygon[k, 0] + polygon[k, 1] + polygon[k, 2]
    for k in range(1, count - 1):
        a, b, c = polygon[0], polygon[k], polygon[k + 1]
        beyond = reach[0] * reach[k] * reach[k + 1]
        if beyond < 1e-30:  # the piece contains p, and its shadow is undefined
            continue
        near = dot(a, cross(b, c))
        far = near / beyond
        shadow[0] += far - near
        for i in range(3):
            shadow[1 + i] += 0.25 * far * (a[i] / reach[0] + b[i] / reach[k] + c[i] / reach[k + 1])
            shadow[1 + i] -= 0.25 * near * (a[i] + b[i] + c[i])


@inner_kernel
def _inverse(e, out):
    """Write the inverse of the transpose of the matrix e (3,3) to ``out`` (3,3)."""
    for i in range(3):
        out[i, 0], out[i, 1], out[i, 2] = cross(e[(i + 1) % 3], e[(i + 2) % 3])
    volume = dot(e[0], out[0])
    for i in range(3):
        for j in range(3):
            out[i, j] /= volume


@inner_kernel
def _near(corners, tree, near_triangles):
    """Find the triangles of ``tree`` whose boxes overlap the box of a tet with ``corners`` (4,3). Write their
    indices to ``near_triangles``, or to a longer copy if it is too short; return that array and the triangles' number.
    """
    low, high = box_of(corners)
    stack = np.zeros(STACK_SIZE, dtype=np.int32)
    count = 0
    leaf, depth = next_overlap(stack, 1, low, high, tree)
    while leaf >= 0:
        for k in range(tree.start[leaf], tree.end[leaf]):
            if count == len(near_triangles):
                longer = np.empty(2 * count, dtype=np.int32)
                for j in range(count):
                    longer[j] = near_triangles[j]
                near_triangles = longer
            near_triangles[count] = tree.order[k]
            count += 1
        leaf, depth = next_overlap(stack, depth, low, high, tree)
    return near_triangles, count


@inner_kernel
def _shadows(corners, p, triangles, near_triangles, count, shadows, largest):
    """Cut a tet with ``corners`` (4,3) into four tets (p, face), and clip triangles to each of these tets. Return the
    number of pieces. The triangles are ``triangles[near_triangles[:count]]``, of ``triangles`` (t,3,3).

    The shadow of a piece is the region behind the piece as seen from p. Volumes and moments of the shadows
    (:func:`_add_shadow`) are added to ``shadows`` (4,4), one row per face. ``largest`` (4,) receives the middle of the
    largest piece (three coordinates) and twice the area of the largest piece.
    """
    edges, inverse = np.empty((3, 3)), np.empty((3, 3))
    polygon, spare = np.empty((8, 3)), np.empty((8, 3))
    own = np.empty(4)
    pieces = 0
    for face in range(4):
        for j in range(3):
            edges[j, 0], edges[j, 1], edges[j, 2] = minus(corners[(face + 1 + j) % 4], p)
        _inverse(edges, inverse)
        for k in range(count):
            t = triangles[near_triangles[k]]
            for c in range(3):
                polygon[c, 0], polygon[c, 1], polygon[c, 2] = times(inverse, minus(t[c], p))
            n = 3
            for plane in range(4):
                if n > 0:
                    n = _clipped(polygon, n, spare, plane)
            if n < 3:
                continue
            pieces += 1
            # For odd faces the three following corners are in the opposite orientation.
            sign = 1.0 if face % 2 == 0 else -1.0
            for i in range(4):
                own[i] = shadows[face, i]
            _add_shadow(polygon, n, own)
            for i in range(4):
                shadows[face, i] += sign * (own[i] - shadows[face, i])
            _note_largest(polygon, n, edges, p, largest)
    return pieces


@inner_kernel
def _note_largest(polygon, count, edges, p, largest):
    """Write the middle (3) and twice the area of a polygon to ``largest`` (4,) if ``largest`` holds a smaller area.

    Corner k of the polygon is ``p + polygon[k] @ edges``, k < ``count``: ``edges`` (3,3) are three edges of a tet from
    its corner p, and the rows of ``polygon`` are coefficients of these edges.
    """
    area, middle = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for k in range(count):
        middle = moved(middle, 1.0 / count, polygon[k])
    for k in range(1, count - 1):
        a, b = minus(polygon[k], polygon[0]), minus(polygon[k + 1], polygon[0])
        area = plus(area, cross(combine(a, edges), combine(b, edges)))
    size = np.sqrt(dot(area, area))
    if size > largest[3]:
        largest[0], largest[1], largest[2] = plus(p, combine(middle, edges))
        largest[3] = size


@inner_kernel
def _asked(corners, p, w_at_p, field):
    """Evaluate the winding number w of the surface at five points in a tet with ``corners`` (4,3): a point p near its
    middle, where the known value is ``w_at_p``, and four points near the corners. Return the lowest w, the highest w,
    and False if ``|w|`` is close to 1/2 at one of the points, True otherwise. ``field`` is ``WindingNumber.field``.
    """
    low, high, sure = w_at_p, w_at_p, abs(abs(w_at_p) - 0.5) > CLEAR
    for c in range(4):
        w = winding_at(moved(corners[c], _ASKED, minus(p, corners[c])), field)
        low, high = min(low, w), max(high, w)
        sure = sure and abs(abs(w) - 0.5) > CLEAR
    return low, high, sure


@inner_kernel
def _simple(low, high, pieces):
    """Return True if the volume formula holds in a tet with winding numbers from ``low`` to ``high`` and ``pieces``
    pieces of the surface. Without pieces the tet must be wholly inside or wholly outside; with pieces, only one winding
    number besides 0 may occur.
    """
    if pieces == 0:
        return low > 0.5 or high < -0.5 or max(high, -low) < 0.5
    return max(high, -low) < 1.5 and (low > -0.5 or high < 0.5)


@inlined
def _blend(b, corners):
    """Return the point with the barycentric coordinates b (4,) in a tet with ``corners`` (4,3)."""
    return moved(combine(b, (corners[0], corners[1], corners[2])), b[3], corners[3])


@inner_kernel
def _copy(source, target):
    """Copy a 4 x 4 matrix. Numba takes longer to compile a slice assignment, since that checks shapes."""
    for c in range(4):
        for d in range(4):
            target[c, d] = source[c, d]


@inner_kernel
def _measure_one(corners, base, field, near_triangles, total, largest):
    """Measure the inside part of a tet with ``corners`` (4,3). Add the part's volume, as a fraction of the tet, and the
    integrals of the four barycentric coordinates over the part to ``total`` (5,). A tet in which the volume formula
    does not hold is cut into smaller tets.

    ``base`` (4,) are barycentric coordinates of the point p at which the winding number is computed. ``largest`` (4,)
    receives the middle (three coordinates) and twice the area of the largest piece of surface in the tet.
    ``near_triangles`` is a buffer for triangle indices. Return this buffer, or a longer one that replaced it, for use
    with the next tet.
    """
    inside = np.empty((7 * DEPTH + 1, 4, 4))
    level = np.zeros(7 * DEPTH + 1, dtype=np.int64)
    for c in range(4):
        for d in range(4):
            inside[0, c, d] = 1.0 if c == d else 0.0
    waiting = 1
    coordinates, children = np.empty((4, 4)), np.empty((8, 4, 4))
    own = np.empty((4, 3))
    shadows, here = np.empty((4, 4)), np.zeros(4)
    part = np.empty(5)
    triangles = field[0]
    while waiting > 0:
        waiting -= 1
        depth = level[waiting]
        _copy(inside[waiting], coordinates)
        for c in range(4):
            own[c, 0], own[c, 1], own[c, 2] = _blend(coordinates[c], corners)
        p = _blend(base, own)
        w_at_p = winding_at(p, field)
        near_triangles, count = _near(own, field[1], near_triangles)
        shadows[:] = 0.0
        here[3] = 0.0
        pieces = _shadows(own, p, triangles, near_triangles, count, shadows, here)
        if here[3] > largest[3]:
            for i in range(4):
                largest[i] = here[i]
        lowest, highest, sure = w_at_p, w_at_p, True
        if depth < DEPTH:
            lowest, highest, sure = _asked(own, p, w_at_p, field)
            if not sure or not _simple(lowest, highest, pieces):
                _cut(coordinates, children)
                for k in range(8):
                    _copy(children[k], inside[waiting])
                    level[waiting] = depth + 1
                    waiting += 1
                continue
        orientation = _turned(lowest, highest, shadows, base, here, field)
        # Where surfaces overlap, |w| at p may exceed 1, and more triangles are left than entered.
        _add_parts(max(1.0, np.rint(abs(w_at_p))) if abs(w_at_p) > 0.5 else 0.0, orientation, shadows, base, part)
        share = 0.125**depth * min(max(part[0], 0.0), 1.0)
        if part[0] <= 0.0:
            continue
        total[0] += share
        for c in range(4):
            for d in range(4):
                total[1 + d] += share * part[1 + c] / part[0] * coordinates[c, d]
    return near_triangles


@inner_kernel
def _is_sheet(largest, field):
    """Return True if the largest piece of surface in a tet belongs to a sheet, which encloses nothing. ``largest`` (4,)
    holds the middle of that piece (three coordinates) and twice the area of the piece; the area is 0 if the tet
    contains no piece. ``field`` is ``WindingNumber.field``.
    """
    return largest[3] > 0.0 and abs(abs(winding_at((largest[0], largest[1], largest[2]), field)) - 0.5) < SHEET


@inner_kernel
def _turned(lowest, highest, shadows, base, largest, field):
    """Return the orientation of the surface in a tet: 1 if outwards, -1 if inwards, 0 if it is a sheet, which encloses
    nothing.

    ``lowest`` and ``highest`` are the extreme winding numbers w at the sampled points. If ``|w| > 1/2`` at one of them,
    the sign of w decides. If not, the orientation is chosen so that the enclosed volume is positive. ``shadows`` (4,4)
    are volumes and moments behind the pieces of surface as seen from a point p (:func:`_shadows`). ``base`` (4,) are
    the barycentric coordinates of p. ``largest`` and ``field`` are as in :func:`_is_sheet`.
    """
    if max(highest, -lowest) > 0.5:
        return 1.0 if highest > -lowest else -1.0
    if _is_sheet(largest, field):
        return 0.0
    volume = 0.0
    for face in range(4):
        volume -= base[face] * shadows[face, 0]
    return 1.0 if volume >= 0.0 else -1.0


@inner_kernel
def _add_parts(w_at_p, orientation, shadows, base, part):
    """Write the volume of the inside part of a tet of volume 1, and the integrals of the four barycentric coordinates
    over that part, to ``part`` (5,). ``base`` (4,) are the barycentric coordinates of a point p in the tet. ``w_at_p``
    is the absolute winding number at p, rounded to a whole number; it is 0 if p is outside. ``orientation`` is the
    result of :func:`_turned`, and ``shadows`` (4,4) the result of :func:`_shadows` for p.
    """
    part[:] = 0.0
    for face in range(4):
        own = base[face]  # volume of the tet (p, face)
        volume = w_at_p - orientation * shadows[face, 0]
        part[0] += own * volume
        left = volume
        for j in range(3):
            moment = 0.25 * w_at_p - orientation * shadows[face, 1 + j]
            left -= moment
            part[1 + (face + 1 + j) % 4] += own * moment
        for c in range(4):
            part[1 + c] += own * left * base[c]


@inner_kernel
def _cut(coordinates, children):
    """Cut a tet into eight of equal volume: four at its corners, and four around a diagonal of the octahedron between
    them. The corners' barycentric coordinates in the original tet are the rows of ``coordinates`` (4,4); those of the
    parts are written to ``children`` (8,4,4).
    """
    middle = np.empty((4, 4, 4))
    for a in range(4):
        for b in range(4):
            for d in range(4):
                middle[a, b, d] = 0.5 * (coordinates[a, d] + coordinates[b, d])
    for a in range(4):
        for b in range(4):
            for d in range(4):
                children[a, b, d] = middle[a, b, d]
    around = ((0, 1), (0, 3), (2, 3), (1, 2))
    for k in range(4):
        one, other = around[k], around[(k + 1) % 4]
        for d in range(4):
            children[4 + k, 0, d] = middle[0, 2, d]
            children[4 + k, 1, d] = middle[1, 3, d]
            children[4 + k, 2, d] = middle[one[0], one[1], d]
            children[4 + k, 3, d] = middle[other[0], other[1], d]


@parallel_kernel
def _measure(first, last, corners, base, field, fill, moment, sheet):
    near_triangles = np.empty(64, dtype=np.int32)
    total, largest = np.empty(5), np.empty(4)
    for t in range(first, last):
        total[:] = 0.0
        largest[:] = 0.0
        near_triangles = _measure_one(corners[t], base, field, near_triangles, total, largest)
        fill[t] = total[0]
        for c in range(4):
            moment[t, c] = total[1 + c]
        sheet[t] = _is_sheet(largest, field)
