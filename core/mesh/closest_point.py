"""Closest points and first hits on triangles, through a tree of bounding boxes."""

from __future__ import annotations

import numpy as np

from ..jit import kernel
from .bounding_tree import STACK_SIZE, next_leaf

EDGE_SLACK = 1e-9
"""A segment that passes an edge by this part of the triangle hits it: between two triangles nothing slips through."""


@kernel
def _closest_on_segment(a, b, p):
    """Where on ab, in [0, 1], lies the point closest to p, and its squared distance."""
    length2, along = 0.0, 0.0
    for i in range(3):
        length2 += (b[i] - a[i]) * (b[i] - a[i])
        along += (b[i] - a[i]) * (p[i] - a[i])
    s = min(max(along / length2, 0.0), 1.0) if length2 > 0.0 else 0.0
    total = 0.0
    for i in range(3):
        r = p[i] - a[i] - s * (b[i] - a[i])
        total += r * r
    return s, total


@kernel
def closest_on_triangle(a, b, c, p, w):
    """Write the barycentric weights (3,) of the point of triangle abc closest to p; returns the squared distance.

    Weights are exactly 0 where the point lies on a side or corner. Triangles without area are their longest side.
    """
    d11, d12, d22, e1, e2 = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(3):
        ab, ac, ap = b[i] - a[i], c[i] - a[i], p[i] - a[i]
        d11 += ab * ab
        d12 += ab * ac
        d22 += ac * ac
        e1 += ab * ap
        e2 += ac * ap
    gram = d11 * d22 - d12 * d12
    if gram > 1e-24 * d11 * d22:
        v = (d22 * e1 - d12 * e2) / gram
        u = (d11 * e2 - d12 * e1) / gram
        if v > 0.0 and u > 0.0 and v + u < 1.0:
            w[0], w[1], w[2] = 1.0 - v - u, v, u
            total = 0.0
            for i in range(3):
                r = p[i] - a[i] - v * (b[i] - a[i]) - u * (c[i] - a[i])
                total += r * r
            return total
    s, best = _closest_on_segment(a, b, p)
    w[0], w[1], w[2] = 1.0 - s, s, 0.0
    s, d2 = _closest_on_segment(b, c, p)
    if d2 < best:
        best = d2
        w[0], w[1], w[2] = 0.0, 1.0 - s, s
    s, d2 = _closest_on_segment(c, a, p)
    if d2 < best:
        best = d2
        w[0], w[1], w[2] = s, 0.0, 1.0 - s
    return best


@kernel
def nearest_triangle(p, bound2, corners, order, start, end, child, low, high, w):
    """The triangle closest to p within the squared distance ``bound2`` and that distance; weights go to w (3,).

    -1 and ``bound2`` when there is none. Of equally close ones the lowest index wins.
    """
    best, best2 = -1, bound2
    trial = np.empty(3)
    stack = np.zeros(STACK_SIZE, dtype=np.int32)
    leaf, depth = next_leaf(stack, 1, p, best2, child, low, high)
    while leaf >= 0:
        for k in range(start[leaf], end[leaf]):
            t = corners[order[k]]
            d2 = closest_on_triangle(t[0], t[1], t[2], p, trial)
            if d2 < best2 or (d2 == best2 and (best < 0 or order[k] < best)):
                best, best2 = order[k], d2
                w[:] = trial
        leaf, depth = next_leaf(stack, depth, p, best2, child, low, high)
    return best, best2


@kernel
def _segment_misses_box(low, high, node, p, q, until):
    """Whether the part of segment pq up to the parameter ``until`` misses a node's box."""
    enter, leave = 0.0, until
    for i in range(3):
        along = q[i] - p[i]
        # A box without thickness must not be missed by round-off.
        slack = 1e-12 * (abs(p[i]) + abs(q[i]))
        if along == 0.0:
            if p[i] < low[node, i] - slack or p[i] > high[node, i] + slack:
                return True
            continue
        t0, t1 = (low[node, i] - slack - p[i]) / along, (high[node, i] + slack - p[i]) / along
        enter, leave = max(enter, min(t0, t1)), min(leave, max(t0, t1))
    return enter > leave


@kernel
def _hit_parameter(t, p, q):
    """Where segment pq crosses the triangle, in [0, 1]; inf when it does not, or lies in its plane."""
    d0, d1, d2 = q[0] - p[0], q[1] - p[1], q[2] - p[2]
    x0, x1, x2 = t[1, 0] - t[0, 0], t[1, 1] - t[0, 1], t[1, 2] - t[0, 2]
    y0, y1, y2 = t[2, 0] - t[0, 0], t[2, 1] - t[0, 1], t[2, 2] - t[0, 2]
    n0, n1, n2 = x1 * y2 - x2 * y1, x2 * y0 - x0 * y2, x0 * y1 - x1 * y0
    # Cramer's rule for  p + s d = t0 + u x + v y  (s, u, v share the determinant -d.n).
    determinant = -(d0 * n0 + d1 * n1 + d2 * n2)
    if determinant == 0.0:
        return np.inf
    r0, r1, r2 = p[0] - t[0, 0], p[1] - t[0, 1], p[2] - t[0, 2]
    s = (r0 * n0 + r1 * n1 + r2 * n2) / determinant
    if not 0.0 <= s <= 1.0:
        return np.inf
    c0, c1, c2 = d1 * r2 - d2 * r1, d2 * r0 - d0 * r2, d0 * r1 - d1 * r0
    u = -(c0 * y0 + c1 * y1 + c2 * y2) / determinant
    v = (c0 * x0 + c1 * x1 + c2 * x2) / determinant
    if u < -EDGE_SLACK or v < -EDGE_SLACK or u + v > 1.0 + EDGE_SLACK:
        return np.inf
    return s


@kernel
def first_hit(p, q, corners, order, start, end, child, low, high):
    """The triangle that segment pq crosses first, or -1."""
    best, first = -1, 1.0
    stack = np.empty(STACK_SIZE, dtype=np.int32)
    stack[0] = 0
    depth = 1
    while depth > 0:
        depth -= 1
        node = stack[depth]
        if _segment_misses_box(low, high, node, p, q, first):
            continue
        if child[node] >= 0:
            stack[depth] = child[node]
            stack[depth + 1] = child[node] + 1
            depth += 2
            continue
        for k in range(start[node], end[node]):
            s = _hit_parameter(corners[order[k]], p, q)
            if s < first or (s == first and (best < 0 or order[k] < best)):
                best, first = order[k], s
    return best
