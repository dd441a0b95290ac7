"""Closest points and first hits on triangles, through a tree of bounding boxes.

The closest point of the triangle's plane ``a + v (b - a) + u (c - a)`` solves the normal equations for u and v. If this
point lies outside the triangle, the closest point on the three sides is taken, each a clamped projection. The
intersection of a segment ``p + s d`` with a triangle solves ``p + s d = a + v (b - a) + u (c - a)`` by Cramer's rule. A
search visits near boxes of the tree first and skips boxes beyond the best result so far.

Trap: on a side or corner the barycentric weights of other corners must be exactly 0. Colliders detect from these
weights whether the closest point lies on a face, an edge or a vertex.
"""

from __future__ import annotations

import numpy as np

from ...foundation.kernels.jit import inner_kernel, parallel_kernel
from ...foundation.kernels.simd_math import cross, dot, minus, moved
from .bounding_tree import STACK_SIZE, next_leaf

EDGE_SLACK = 1e-9
"""Tolerance of the barycentric weights of a hit, so that no segment passes between two adjacent triangles."""
GUESS_SLACK = 1.0 + 1e-9
"""Factor that enlarges the squared search radius around a point with a guessed triangle.

The search looks for triangles no farther away than the guessed one. Without the factor, round-off could exclude a
triangle at an equal distance.
"""


@inner_kernel
def _closest_on_segment(a, b, p):
    """Return the parameter s of the point ``a + s (b - a)`` of a segment closest to p, and its squared distance."""
    ab, ap = minus(b, a), minus(p, a)
    length2 = dot(ab, ab)
    s = min(max(dot(ab, ap) / length2, 0.0), 1.0) if length2 > 0.0 else 0.0
    r = moved(ap, -s, ab)
    return s, dot(r, r)


@inner_kernel
def closest_on_triangle(a, b, c, p, w):
    """Find the point on triangle abc that is closest to p. Return the squared distance.

    The barycentric weights of the closest point are written to w (3,). If the point lies on a side or corner, the
    weights of the other corners are exactly 0. A triangle without area counts as its longest side.
    """
    ab, ac, ap = minus(b, a), minus(c, a), minus(p, a)
    d11, d12, d22, e1, e2 = dot(ab, ab), dot(ab, ac), dot(ac, ac), dot(ab, ap), dot(ac, ap)
    gram = d11 * d22 - d12 * d12
    if gram > 1e-24 * d11 * d22:
        v = (d22 * e1 - d12 * e2) / gram
        u = (d11 * e2 - d12 * e1) / gram
        if v > 0.0 and u > 0.0 and v + u < 1.0:
            w[0], w[1], w[2] = 1.0 - v - u, v, u
            r = moved(moved(ap, -v, ab), -u, ac)
            return dot(r, r)
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


@inner_kernel
def nearest_triangle(p, bound2, corners, tree, w):
    """Return the index of the triangle closest to p, and the squared distance.

    The barycentric weights of the closest point are written to w (3,). Only triangles within the squared distance
    ``bound2`` are found. Without one, the result is -1 and ``bound2``. Of equally close triangles the lowest index is
    returned.

    ``corners`` (t,3,3): triangles of the tree.
    """
    best, best2 = -1, bound2
    trial = np.empty(3)
    stack = np.zeros(STACK_SIZE, dtype=np.int32)
    leaf, depth = next_leaf(stack, 1, p, best2, tree)
    while leaf >= 0:
        for k in range(tree.start[leaf], tree.end[leaf]):
            t = corners[tree.order[k]]
            d2 = closest_on_triangle(t[0], t[1], t[2], p, trial)
            if d2 < best2 or (d2 == best2 and (best < 0 or tree.order[k] < best)):
                best, best2 = tree.order[k], d2
                w[0], w[1], w[2] = trial[0], trial[1], trial[2]
        leaf, depth = next_leaf(stack, depth, p, best2, tree)
    return best, best2


@inner_kernel
def nearest_from(guess, p, corners, tree, w):
    """Return the index of the triangle closest to p, and the squared distance.

    The barycentric weights of the closest point are written to w (3,). The search is fast if the triangle ``guess`` is
    near p.

    ``corners`` (t,3,3): triangles of the tree.
    """
    t = corners[guess]
    bound2 = GUESS_SLACK * closest_on_triangle(t[0], t[1], t[2], p, w)
    found, d2 = nearest_triangle(p, bound2, corners, tree, w)
    return (found, d2) if found >= 0 else (guess, bound2)


@parallel_kernel
def distances(first, last, points, corners, tree, out):
    """Write the unsigned distances (p,) of points from a surface to ``out``.

    ``points`` (p,3).
    ``corners`` (t,3,3): triangles of the surface.
    ``tree``: bounding tree of the triangles.
    """
    w, triangle = np.empty(3), 0
    for p in range(first, last):
        triangle, d2 = nearest_from(triangle, points[p], corners, tree, w)
        out[p] = np.sqrt(d2)


@inner_kernel
def _segment_misses_box(tree, node, p, q, until):
    """Return True if the segment from p to ``p + until (q - p)`` misses a node's box."""
    enter, leave = 0.0, until
    for i in range(3):
        along = q[i] - p[i]
        # The slack prevents that round-off misses a box without thickness.
        slack = 1e-12 * (abs(p[i]) + abs(q[i]))
        if along == 0.0:
            if p[i] < tree.low[node, i] - slack or p[i] > tree.high[node, i] + slack:
                return True
            continue
        t0, t1 = (tree.low[node, i] - slack - p[i]) / along, (tree.high[node, i] + slack - p[i]) / along
        enter, leave = max(enter, min(t0, t1)), min(leave, max(t0, t1))
    return enter > leave


@inner_kernel
def _hit_parameter(t, p, q):
    """Return the parameter s at which segment ``p + s (q - p)`` crosses triangle t (3,3), or inf."""
    d, x, y, r = minus(q, p), minus(t[1], t[0]), minus(t[2], t[0]), minus(p, t[0])
    n = cross(x, y)
    # Cramer's rule for  p + s d = t0 + u x + v y  (s, u, v share the determinant -d.n).
    determinant = -dot(d, n)
    if determinant == 0.0:
        return np.inf
    s = dot(r, n) / determinant
    if not 0.0 <= s <= 1.0:
        return np.inf
    c = cross(d, r)
    u, v = -dot(c, y) / determinant, dot(c, x) / determinant
    if u < -EDGE_SLACK or v < -EDGE_SLACK or u + v > 1.0 + EDGE_SLACK:
        return np.inf
    return s


@inner_kernel
def first_hit(p, q, corners, tree):
    """Return the index of the first triangle that a segment crosses from p to q, or -1.

    ``corners`` (t,3,3): triangles of the tree.
    """
    best, first = -1, 1.0
    stack = np.empty(STACK_SIZE, dtype=np.int32)
    stack[0] = 0
    depth = 1
    while depth > 0:
        depth -= 1
        node = stack[depth]
        if _segment_misses_box(tree, node, p, q, first):
            continue
        if tree.child[node] >= 0:
            stack[depth] = tree.child[node]
            stack[depth + 1] = tree.child[node] + 1
            depth += 2
            continue
        for k in range(tree.start[node], tree.end[node]):
            s = _hit_parameter(corners[tree.order[k]], p, q)
            if s < first or (s == first and (best < 0 or tree.order[k] < best)):
                best, first = tree.order[k], s
    return best
