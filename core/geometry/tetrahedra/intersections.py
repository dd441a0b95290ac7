"""Self-intersections: triangles of a surface that pass through each other.

Two triangles cross if an edge of one triangle passes through the interior of the other. The edge AB passes through the
interior of triangle T under two conditions. A and B lie on different sides of the plane of T, and the corners of T wind
around the line AB in one direction. Both conditions are signs of 3 x 3 determinants. A determinant counts as zero
within the round-off of coordinates [predicates: Guigue, Devillers 2003]. A tree of bounding boxes finds candidate
pairs.
"""

from __future__ import annotations

import numpy as np

from ...foundation.kernels.jit import inlined, inner_kernel, kernel
from ...foundation.kernels.simd_math import cross, dot, minus
from ..mesh.bounding_tree import STACK_SIZE, box_of, build_tree, element_boxes, next_overlap


def intersecting_triangles(positions: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Return the indices (k,) int64 of the triangles that cross another triangle.

    Triangles that only touch, or are coplanar, do not count as crossing. If two triangles share a vertex, only the
    edges opposite to this vertex can cross the other triangle. Triangles that share an edge never cross.

    ``positions`` (n,3): of the vertices.
    ``triangles`` (t,3): vertex indices.
    """
    if len(triangles) == 0:
        return np.empty(0, dtype=np.int64)
    centred = positions - positions[triangles].mean(axis=(0, 1))
    corners = np.ascontiguousarray(centred[triangles])
    tree = build_tree(*element_boxes(corners))
    found = np.zeros(len(triangles), dtype=np.bool_)
    slack = 4.0 * np.finfo(float).eps * float(np.abs(corners).max())
    _find(corners, triangles.astype(np.int64), slack, tree, found)
    return np.flatnonzero(found)


@inlined
def _sum_of_sizes(a):
    return abs(a[0]) + abs(a[1]) + abs(a[2])


@inner_kernel
def _side(a, b, c, d, slack):
    """Return the side of a triangle on which point d lies: 1 above, -1 below, 0 on the plane."""
    u, v, w = minus(b, a), minus(c, a), minus(d, a)
    volume = dot(u, cross(v, w))
    x, y, z = _sum_of_sizes(u), _sum_of_sizes(v), _sum_of_sizes(w)
    bound = slack * (x * y + y * z + z * x)
    return 0 if abs(volume) <= bound else (1 if volume > 0.0 else -1)


@inner_kernel
def _passes(p, q, t, slack):
    """Return True if segment pq passes through the interior of triangle t (3,3)."""
    if _side(t[0], t[1], t[2], p, slack) * _side(t[0], t[1], t[2], q, slack) >= 0:
        return False
    u = _side(p, q, t[0], t[1], slack)
    return u != 0 and u == _side(p, q, t[1], t[2], slack) and u == _side(p, q, t[2], t[0], slack)


@inner_kernel
def _edge_passes(s, t, shared, slack):
    """Return True if an edge of triangle s (3,3) passes through triangle t (3,3)."""
    for k in range(3):
        if (shared < 0 or shared == k) and _passes(s[(k + 1) % 3], s[(k + 2) % 3], t, slack):
            return True
    return False


@inner_kernel
def _cross(corners, triangles, i, j, slack):
    """Return True if triangles i and j pass through each other."""
    common, in_i, in_j = 0, -1, -1
    for a in range(3):
        for b in range(3):
            if triangles[i, a] == triangles[j, b]:
                common, in_i, in_j = common + 1, a, b
    if common > 1:
        return False
    return _edge_passes(corners[i], corners[j], in_i, slack) or _edge_passes(corners[j], corners[i], in_j, slack)


@kernel
def _find(corners, triangles, slack, tree, found):
    """Set ``found`` (t,) to True for each triangle that crosses another."""
    stack = np.empty(STACK_SIZE, dtype=np.int32)
    for i in range(len(corners)):
        low, high = box_of(corners[i])
        stack[0] = 0
        leaf, depth = next_overlap(stack, 1, low, high, tree)
        while leaf >= 0:
            for k in range(tree.start[leaf], tree.end[leaf]):
                j = tree.order[k]
                if j > i and not (found[i] and found[j]) and _cross(corners, triangles, i, j, slack):
                    found[i] = found[j] = True
            leaf, depth = next_overlap(stack, depth, low, high, tree)
