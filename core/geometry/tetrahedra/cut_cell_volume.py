"""Fraction of a tetrahedron inside a surface, and the centre of mass of that part: exact for closed surfaces.

Inside is where ``|w| > 1/2`` by generalised winding number. Across a triangle w jumps by one, so within a tet T it is
known everywhere from its value at one point p and the clipped triangles. Each triangle casts a shadow, as seen from
p, in which w is lower by one (higher, where p sees its back). With p inside T and T cut into four tets (p, face), the
shadow of a piece Q is the cone over its central projection onto the face, less the cone over Q:

    volume inside T = [p inside] |T| - sum over pieces Q of (cone(p, projected Q) - cone(p, Q))

with signed cones, and likewise for the first moments. The sum does not depend on how pieces touch: a triangle in a
face, an edge or a corner of T changes it by round-off only. Coordinates are barycentric, so scale does not matter.

This holds where w takes two values in T, 0 and one other. Five points of T are sampled. Where surfaces cross or
overlap, or an opening lets w pass smoothly through 1/2, T is cut into eight, at most twice, and each part is measured
separately. At the last level only p is sampled, and the sum is clamped to between 0 and 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...foundation.kernels.jit import inlined, inner_kernel, parallel_kernel
from ...foundation.kernels.simd_math import combine, cross, dot, minus, moved, plus, times
from ..mesh.bounding_tree import STACK_SIZE, box_of, next_overlap
from ..mesh.winding_number import WindingNumber, winding_at

DEPTH = 2
"""Largest number of times that a tet is cut into eight."""
CLEAR = 0.1
"""Least distance of a trusted winding number from one half: twice the error of its far field."""
SHEET = 0.25
"""Largest distance of the winding number from one half at a sheet. There it passes from -1/2 to 1/2, so that neither
side is inside. At the surface of a body it passes from 0 to 1, and on it round-off takes it to either.
"""
CORNER = 1e-3
"""Least weight of a corner in the inside part: every vertex has mass."""
_BASE = np.array([0.27, 0.24, 0.26, 0.23])
"""Barycentric coordinates of p: near the middle, but on no plane that a surface is likely to lie on."""
_ASKED = 0.2
"""The other sampled points lie at the corners, moved towards p by this fraction."""


class VolumeFractions(NamedTuple):
    """Inside parts of m tets.

    Attributes
    ----------
    fill : (m,) float64
        Part of the volume, 0 to 1.
    middle : (m, 4) float64
        Barycentric coordinates of the inside part's centre of mass, at least ``CORNER``; even where nothing is inside.
    sheet : (m,) bool
        True if the tet holds surface that has no inside on either side.
    """

    fill: np.ndarray
    middle: np.ndarray
    sheet: np.ndarray


def volume_fractions(corners: np.ndarray, winding: WindingNumber) -> VolumeFractions:
    """Measure tets with corners (m,4,3), positively oriented, in the unit of the surface."""
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
    """Cut a polygon, rows of three barycentric coordinates, at one of the planes b0, b1, b2 >= 0, b0 + b1 + b2 <= 1."""
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
    """Add the shadow of a piece to (volume, first moments along the three corners) of a tet (p, face) of volume 1."""
    reach = np.empty(count)
    for k in range(count):
        reach[k] = polygon[k, 0] + polygon[k, 1] + polygon[k, 2]
    for k in range(1, count - 1):
        a, b, c = polygon[0], polygon[k], polygon[k + 1]
        beyond = reach[0] * reach[k] * reach[k + 1]
        if beyond < 1e-30:  # the piece goes through p: its shadow is undefined
            continue
        near = dot(a, cross(b, c))
        far = near / beyond
        shadow[0] += far - near
        for i in range(3):
            shadow[1 + i] += 0.25 * far * (a[i] / reach[0] + b[i] / reach[k] + c[i] / reach[k + 1])
            shadow[1 + i] -= 0.25 * near * (a[i] + b[i] + c[i])


@inner_kernel
def _inverse(e, out):
    """Invert a 3 x 3 matrix whose columns are the rows of e; write the rows of the inverse to out."""
    for i in range(3):
        out[i, 0], out[i, 1], out[i, 2] = cross(e[(i + 1) % 3], e[(i + 2) % 3])
    volume = dot(e[0], out[0])
    for i in range(3):
        for j in range(3):
            out[i, j] /= volume


@inner_kernel
def _near(corners, tree, found):
    """Write the triangles whose boxes overlap a tet's into found, which grows; return found and their number."""
    low, high = box_of(corners)
    stack = np.zeros(STACK_SIZE, dtype=np.int32)
    count = 0
    leaf, depth = next_overlap(stack, 1, low, high, tree)
    while leaf >= 0:
        for k in range(tree.start[leaf], tree.end[leaf]):
            if count == len(found):
                longer = np.empty(2 * count, dtype=np.int32)
                for j in range(count):
                    longer[j] = found[j]
                found = longer
            found[count] = tree.order[k]
            count += 1
        leaf, depth = next_overlap(stack, depth, low, high, tree)
    return found, count


@inner_kernel
def _shadows(corners, p, triangles, found, count, shadows, largest):
    """Add the shadows of the triangles in the four tets (p, face) to shadows (4,4); return the number of pieces.

    ``largest`` (4,) receives the middle and the area of the largest piece.
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
            t = triangles[found[k]]
            for c in range(3):
                polygon[c, 0], polygon[c, 1], polygon[c, 2] = times(inverse, minus(t[c], p))
            n = 3
            for plane in range(4):
                if n > 0:
                    n = _clipped(polygon, n, spare, plane)
            if n < 3:
                continue
            pieces += 1
            # Every other face lists the following corners in the opposite orientation.
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
    """Keep the middle and the area of a piece if it is larger than those before."""
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
def _asked(corners, p, at_p, field):
    """Return the lowest and the highest winding number at p and near the corners, and True if none is nearly one
    half."""
    low, high, sure = at_p, at_p, abs(abs(at_p) - 0.5) > CLEAR
    for c in range(4):
        w = winding_at(moved(corners[c], _ASKED, minus(p, corners[c])), field)
        low, high = min(low, w), max(high, w)
        sure = sure and abs(abs(w) - 0.5) > CLEAR
    return low, high, sure


@inner_kernel
def _simple(low, high, pieces):
    """Return True if the tet is wholly inside or outside, or contains surface and its winding numbers take one value
    besides 0.
    """
    if pieces == 0:
        return low > 0.5 or high < -0.5 or max(high, -low) < 0.5
    return max(high, -low) < 1.5 and (low > -0.5 or high < 0.5)


@inlined
def _blend(b, corners):
    """Return the point of a tet with barycentric coordinates b."""
    return moved(combine(b, (corners[0], corners[1], corners[2])), b[3], corners[3])


@inner_kernel
def _copy(source, target):
    """Copy a 4 x 4 matrix; Numba takes longer to compile a slice assignment, with its error for a wrong shape."""
    for c in range(4):
        for d in range(4):
            target[c, d] = source[c, d]


@inner_kernel
def _measure_one(corners, base, field, found, total, largest):
    """Add the volume and the moments of the inside part of a tet (or of its children) to total (5,)."""
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
        at_p = winding_at(p, field)
        found, count = _near(own, field[1], found)
        shadows[:] = 0.0
        here[3] = 0.0
        pieces = _shadows(own, p, triangles, found, count, shadows, here)
        if here[3] > largest[3]:
            for i in range(4):
                largest[i] = here[i]
        lowest, highest, sure = at_p, at_p, True
        if depth < DEPTH:
            lowest, highest, sure = _asked(own, p, at_p, field)
            if not sure or not _simple(lowest, highest, pieces):
                _cut(coordinates, children)
                for k in range(8):
                    _copy(children[k], inside[waiting])
                    level[waiting] = depth + 1
                    waiting += 1
                continue
        turned = _turned(lowest, highest, shadows, base, here, field)
        # A surface that wraps p twice may have more to leave than to enter.
        _add_parts(max(1.0, np.rint(abs(at_p))) if abs(at_p) > 0.5 else 0.0, turned, shadows, base, part)
        share = 0.125**depth * min(max(part[0], 0.0), 1.0)
        if part[0] <= 0.0:
            continue
        total[0] += share
        for c in range(4):
            for d in range(4):
                total[1 + d] += share * part[1 + c] / part[0] * coordinates[c, d]
    return found


@inner_kernel
def _is_sheet(largest, field):
    """Return True if the largest piece has no inside on either side."""
    return largest[3] > 0.0 and abs(abs(winding_at((largest[0], largest[1], largest[2]), field)) - 0.5) < SHEET


@inner_kernel
def _turned(lowest, highest, shadows, base, largest, field):
    """Return 1 if the surface is oriented outwards, -1 if inside out, 0 if nothing is inside.

    The sign of w decides, or else the orientation for which some volume is inside.
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
def _add_parts(at_p, turned, shadows, base, part):
    """Compute volume and moments of the inside of one tet from the value at p and the shadows in its four parts."""
    part[:] = 0.0
    for face in range(4):
        own = base[face]  # the part's share of the tet's volume
        volume = at_p - turned * shadows[face, 0]
        part[0] += own * volume
        left = volume
        for j in range(3):
            moment = 0.25 * at_p - turned * shadows[face, 1 + j]
            left -= moment
            part[1 + (face + 1 + j) % 4] += own * moment
        for c in range(4):
            part[1 + c] += own * left * base[c]


@inner_kernel
def _cut(coordinates, children):
    """Cut a tet into eight of equal volume: four at its corners, four around an octahedron's diagonal."""
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
    found = np.empty(64, dtype=np.int32)
    total, largest = np.empty(5), np.empty(4)
    for t in range(first, last):
        total[:] = 0.0
        largest[:] = 0.0
        found = _measure_one(corners[t], base, field, found, total, largest)
        fill[t] = total[0]
        for c in range(4):
            moment[t, c] = total[1 + c]
        sheet[t] = _is_sheet(largest, field)
