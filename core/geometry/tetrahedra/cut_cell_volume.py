"""Fraction of a tetrahedron inside a surface, and the centre of mass of that part: exact for closed surfaces.

A point is inside if the generalised winding number w has ``|w| > 1/2`` there. Across a triangle of the surface w jumps
by one. So the value of w at one point p in a tet T, and the triangles clipped to T, determine w everywhere in T. The
region behind a triangle, as seen from p, is the shadow of the triangle. In the shadow w is lower by one, or higher by
one if p sees the triangle's back.

T is cut into four tets (p, F), each spanned by p and a face F of T. The part of a triangle that lies in (p, F) is a
piece Q. The shadow of Q in (p, F) lies between Q and the projection of Q from p onto F. The shadow is the cone from p
over the projected Q, without the cone from p over Q:

    volume inside T = [p inside] |T| - sum over pieces Q of (cone(p, projected Q) - cone(p, Q))

Here ``[p inside]`` is 1 if p is inside and 0 otherwise, ``|T|`` is the volume of T, and ``cone`` is a signed volume.
The first moments are computed likewise. A triangle that lies in a face, an edge or a corner of T changes the sum by
round-off only. Coordinates are barycentric, so scale does not matter.

The formula holds if w takes at most two values in T, 0 and one other. The values of w at five points test this
condition. The condition fails if surfaces cross or overlap, or if w passes smoothly through 1/2 at an opening. T is
then cut into eight tets, at most twice, and each is measured separately. At the last level w is evaluated at p only,
and the result is clamped to 0 to 1.
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
"""The winding number w is uncertain if the distance of ``|w|`` from 1/2 is at most this. The value is nearly twice the
largest error, 0.06, of the Taylor series that approximates w.
"""
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
"""Barycentric coordinates of the point p in a tet at which the winding number is always evaluated. The point is near
the middle, but on no plane in which a surface is likely to lie.
"""
_ASKED = 0.2
"""Fraction of the distance to the point p by which four sample points are moved from a tet's corners towards p. The
winding number is sampled at these points and at p, which lies near the middle of the tet.
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
    """Return how much of each of m tets lies inside a surface, and where. ``winding`` computes the winding number of
    the surface. ``corners`` (m,4,3): corners of the tets, which must be positively oriented.
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
    """Find the triangles of ``tree`` whose boxes overlap the box of a tet with ``corners`` (4,3). Write the indices of
    these triangles to ``near_triangles``; if this array is too short, use a longer copy. Return the array used and the
    number of triangles.
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
    """Cut a tet into four tets, each spanned by the point p and a face, and clip triangles to each of the four tets. A
    piece is a part of a triangle that lies in one of the four tets. Return the number of pieces.

    The shadow of a piece is the region behind the piece, as seen from p, up to the face. The signed volumes and the
    three first moments (:func:`_add_shadow`) of the shadows are added to ``shadows`` (4,4), one row per face. The mean
    of the corners of the largest piece (three coordinates) and twice the piece's area are written to ``largest`` (4,),
    unless ``largest`` holds a larger area.

    ``corners`` (4,3): corners of the tet. The triangles are ``triangles[near_triangles[:count]]``, of ``triangles``
    (t,3,3).
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
    """Write the mean of a polygon's corners (three coordinates) and twice the polygon's area to ``largest`` (4,). Do
    nothing if ``largest`` holds a larger area.

    The polygon lies in a tet that has the corner p. ``edges`` (3,3) are the tet's edge vectors from p. The polygon has
    ``count`` corners, and corner k is at ``p + polygon[k] @ edges``.
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
    """Return True if the volume inside a tet can be computed without cutting the tet. ``low`` and ``high`` are the
    lowest and the highest winding number sampled in the tet. ``pieces`` is the number of pieces of the surface in the
    tet. Without pieces the tet must be wholly inside or wholly outside. With pieces the winding number may take the
    value 0 and only one of the values 1 and -1.
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
    """Measure the part of a tet that lies inside the surface. Add the volume of the part, and the integrals of the four
    barycentric coordinates over the part, to ``total`` (5,); both are divided by the volume of the tet. The tet is cut
    into smaller tets if necessary (:func:`_simple`).

    ``corners`` (4,3): corners of the tet. ``base`` (4,): barycentric coordinates of the point p at which the winding
    number is computed. ``field``: ``WindingNumber.field`` of the surface. ``largest`` (4,) receives data of the largest
    piece of surface in the tet: the mean of the piece's corners (three coordinates), and twice the area.
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
    holds a point of that piece (three coordinates) and twice the area of the piece; the area is 0 if the tet contains
    no piece. ``field`` is ``WindingNumber.field``.
    """
    return largest[3] > 0.0 and abs(abs(winding_at((largest[0], largest[1], largest[2]), field)) - 0.5) < SHEET


@inner_kernel
def _turned(lowest, highest, shadows, base, largest, field):
    """Return the orientation of the surface in a tet: 1 if the surface's normals point outwards, -1 if they point
    inwards, 0 if the surface is a sheet, which encloses nothing.

    ``lowest`` and ``highest`` are the extreme winding numbers w at the sampled points. If ``|w| > 1/2`` at one of these
    points, the sign of w there decides. If not, and the surface is not a sheet, the orientation is chosen so that the
    enclosed volume is positive.

    ``base`` (4,): barycentric coordinates of a point p in the tet. ``shadows`` (4,4) has a row for each face of the
    tet: the volume and the moments of the regions behind the surface, as seen from p (:func:`_shadows`). ``largest``
    (4,): a point of the largest piece of surface (three coordinates), and twice the piece's area. ``field`` is
    ``WindingNumber.field``.
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
    is the absolute winding number at p, rounded to a whole number; it is 0 if p is outside. ``orientation`` is 1 if the
    surface's normals point outwards, -1 if inwards, 0 for a sheet. ``shadows`` (4,4) is the result of :func:`_shadows`
    for p: for each face of the tet, the volume and the moments of the regions behind the surface, as seen from p.
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
