"""Fraction of a tetrahedron inside a surface, and the centre of mass of that part.

The result is exact for closed surfaces. A point is inside if the generalised winding number w has ``|w| > 1/2`` there.
Across a triangle of the surface w jumps by one. So the value of w at one point p in a tet T, and the triangles clipped
to T, determine w everywhere in T. The region behind a triangle, as seen from p, is the shadow of the triangle. In the
shadow w is lower by one, or higher by one if p sees the triangle's back.

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
"""Distance of ``|w|`` from 1/2 up to which the winding number w is uncertain.

The value is nearly twice the largest error, 0.06, of the Taylor series that approximates w.
"""
SHEET = 0.25
"""Largest difference of ``|w|`` at a surface from 1/2 at which the surface is a sheet. w is the winding number.

Across a sheet, w passes from -1/2 to 1/2, so neither side is inside. Across the surface of a body, w passes from 0 to
1. Exactly at the surface, round-off decides which of the two values is computed.
"""
CORNER = 1e-3
"""Lower bound on the barycentric coordinates of the inside part's centre of mass.

A tet's mass is distributed to the corners by these coordinates, so the bound gives every vertex some mass.
"""
_BASE = np.array([0.27, 0.24, 0.26, 0.23])
"""Barycentric coordinates of the point p in a tet at which the winding number is always evaluated.

The point is near the middle, but on no plane in which a surface is likely to lie.
"""
_ASKED = 0.2
"""Fraction of the path from a tet's corner to the point p at which a sample point lies.

The winding number is sampled at four such points and at p, which lies near the middle of the tet.
"""


class VolumeFractions(NamedTuple):
    """Parts of m tets inside a surface.

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
    """Return the parts of tets inside a surface.

    ``corners`` (m,4,3): corners of the tets, which must be positively oriented.
    ``winding``: winding number of the surface.
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
    """Clip a polygon to a half-space that bounds a tet, and return its new number of corners.

    A corner is a row (b0, b1, b2) of ``polygon``. The half-space is ``b[plane] >= 0``, or ``b0 + b1 + b2 <= 1`` for
    plane 3.
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

    The shadow is the region behind the polygon in a tet of volume 1, as seen from the apex p.
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
    """Collect the triangles with boxes that overlap a tet's box. Return their indices and their number."""
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
    """Add the shadows of all pieces of surface in a tet to ``shadows`` (4,4), and return the number of pieces.

    The tet is cut into four tets, each spanned by p and a face. A piece is a part of a triangle in one of the four
    tets.
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
    """Write the mean of a polygon's corners and twice its area to ``largest`` (4,), unless it holds a larger area."""
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
    """Return the lowest and highest of five winding numbers in a tet, and False if one is uncertain."""
    low, high, sure = w_at_p, w_at_p, abs(abs(w_at_p) - 0.5) > CLEAR
    for c in range(4):
        w = winding_at(moved(corners[c], _ASKED, minus(p, corners[c])), field)
        low, high = min(low, w), max(high, w)
        sure = sure and abs(abs(w) - 0.5) > CLEAR
    return low, high, sure


@inner_kernel
def _simple(low, high, pieces):
    """Return True if the volume inside a tet can be computed without cutting the tet."""
    if pieces == 0:
        return low > 0.5 or high < -0.5 or max(high, -low) < 0.5
    return max(high, -low) < 1.5 and (low > -0.5 or high < 0.5)


@inlined
def _blend(b, corners):
    """Return the point of a tet with the barycentric coordinates b (4,)."""
    return moved(combine(b, (corners[0], corners[1], corners[2])), b[3], corners[3])


@inner_kernel
def _copy(source, target):
    """Copy a 4 x 4 matrix. Numba compiles a slice assignment more slowly, since that checks shapes."""
    for c in range(4):
        for d in range(4):
            target[c, d] = source[c, d]


@inner_kernel
def _measure_one(corners, base, field, near_triangles, total, largest):
    """Add the volume of a tet's inside part and its barycentric moments, per volume of the tet, to ``total`` (5,)."""
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
    """Return True if the largest piece of surface in a tet belongs to a sheet."""
    return largest[3] > 0.0 and abs(abs(winding_at((largest[0], largest[1], largest[2]), field)) - 0.5) < SHEET


@inner_kernel
def _turned(lowest, highest, shadows, base, largest, field):
    """Return the orientation of the surface in a tet: 1 outwards, -1 inwards, 0 for a sheet."""
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
    """Write the inside volume of a tet of volume 1 and its four barycentric moments to ``part`` (5,)."""
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
    """Cut a tet into eight of equal volume, with barycentric coordinates ``children`` (8,4,4)."""
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
