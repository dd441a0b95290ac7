"""Triangles of a surface that pass through each other."""

from __future__ import annotations

import numpy as np

from ..jit import kernel
from .bounding_tree import STACK_SIZE, build_tree


def crossing_triangles(positions: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Indices of the triangles (t,3) over positions (n,3) through whose inside another one's edge passes, or whose edge
    passes through another one's, (k,) int64.

    What merely touches does not count, nor do triangles in one plane. Of two triangles with a common vertex only the
    edges opposite to it can cross; those with a common edge never do.
    """
    if len(triangles) == 0:
        return np.empty(0, dtype=np.int64)
    centred = positions - positions[triangles].mean(axis=(0, 1))
    corners = np.ascontiguousarray(centred[triangles])
    tree = build_tree(corners.min(axis=1), corners.max(axis=1))
    found = np.zeros(len(triangles), dtype=np.bool_)
    slack = 4.0 * np.finfo(float).eps * float(np.abs(corners).max())
    _find(corners, triangles.astype(np.int64), slack, *tree, found)
    return np.flatnonzero(found)


@kernel
def _side(a, b, c, d, slack):
    """On which side of the triangle a, b, c a point lies: 1, -1, or 0 within the round-off ``slack`` of coordinates."""
    x0, x1, x2 = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    y0, y1, y2 = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    z0, z1, z2 = d[0] - a[0], d[1] - a[1], d[2] - a[2]
    volume = x0 * (y1 * z2 - y2 * z1) + x1 * (y2 * z0 - y0 * z2) + x2 * (y0 * z1 - y1 * z0)
    x = abs(x0) + abs(x1) + abs(x2)
    y = abs(y0) + abs(y1) + abs(y2)
    z = abs(z0) + abs(z1) + abs(z2)
    bound = slack * (x * y + y * z + z * x)
    return 0 if abs(volume) <= bound else (1 if volume > 0.0 else -1)


@kernel
def _passes(p, q, t, slack):
    """Whether a segment passes through the inside of a triangle (3,3)."""
    if _side(t[0], t[1], t[2], p, slack) * _side(t[0], t[1], t[2], q, slack) >= 0:
        return False
    u = _side(p, q, t[0], t[1], slack)
    return u != 0 and u == _side(p, q, t[1], t[2], slack) and u == _side(p, q, t[2], t[0], slack)


@kernel
def _edge_passes(s, t, shared, slack):
    """Whether an edge of triangle s passes through t; with a shared corner only the edge opposite to it."""
    for k in range(3):
        if (shared < 0 or shared == k) and _passes(s[(k + 1) % 3], s[(k + 2) % 3], t, slack):
            return True
    return False


@kernel
def _cross(corners, triangles, i, j, slack):
    """Whether two triangles cross."""
    common, in_i, in_j = 0, -1, -1
    for a in range(3):
        for b in range(3):
            if triangles[i, a] == triangles[j, b]:
                common, in_i, in_j = common + 1, a, b
    if common > 1:
        return False
    return _edge_passes(corners[i], corners[j], in_i, slack) or _edge_passes(corners[j], corners[i], in_j, slack)


@kernel
def _overlap(low, high, node, t):
    """Whether a node's box meets that of a triangle."""
    for a in range(3):
        if min(min(t[0, a], t[1, a]), t[2, a]) > high[node, a] or max(max(t[0, a], t[1, a]), t[2, a]) < low[node, a]:
            return False
    return True


@kernel
def _find(corners, triangles, slack, order, start, end, child, low, high, found):
    """Mark the triangles of crossing pairs."""
    stack = np.zeros(STACK_SIZE, dtype=np.int32)
    for i in range(len(corners)):
        stack[0] = 0
        depth = 1
        while depth > 0:
            depth -= 1
            node = stack[depth]
            if not _overlap(low, high, node, corners[i]):
                continue
            if child[node] >= 0:
                stack[depth], stack[depth + 1] = child[node], child[node] + 1
                depth += 2
                continue
            for k in range(start[node], end[node]):
                j = order[k]
                if j > i and not (found[i] and found[j]) and _cross(corners, triangles, i, j, slack):
                    found[i] = found[j] = True
