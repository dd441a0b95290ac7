"""Generalised winding number of triangles about points: how often the surface wraps a point, 1 inside, 0 outside.

``w(q) = sum over triangles of (signed solid angle seen from q) / 4 pi``. It needs no closed surface: at an opening it
passes smoothly through 1/2, so ``|w| > 1/2`` is a sound "inside" for open, non-manifold and self-intersecting
triangles [Jacobson, Kavan, Sorkine-Hornung 2013]. Far clusters of triangles are replaced by the first two terms of
their Taylor series [Barill, Dickson, Schmidt, Levin, Jacobson 2018], here with opening ratio 2: errors of 0.003 on
average and 0.06 at worst, far from the threshold that it serves.

Trap: faces of opposite orientation cancel. A body turned inside out as a whole has w = -1 and is found by ``|w|``; a
patch of flipped faces is a hole.
"""

from __future__ import annotations

import numpy as np

from ..jit import kernel, parallel_kernel
from .bounding_tree import STACK_SIZE, build_tree

OPENING_RATIO = 2.0


class WindingNumber:
    """Winding numbers about one surface; build once, evaluate often.

    Parameters
    ----------
    positions : (n, 3) float64
    triangles : (t, 3) int32
        Triangles without area are left out. Any unit; coordinates near the origin keep the digits.

    Attributes
    ----------
    field : what :func:`winding_at` reads in kernels, the corners of the triangles (t,3,3) and ``order``, ``start``,
        ``end``, ``child`` of their tree first; None without triangles.
    boxes : low and high corners of the tree's nodes, (nodes,3) each
    """

    def __init__(self, positions: np.ndarray, triangles: np.ndarray) -> None:
        corners = np.ascontiguousarray(positions[triangles], dtype=np.float64)
        normals = 0.5 * np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        areas = np.linalg.norm(normals, axis=1)
        corners, normals, areas = (values[areas > 0.0] for values in (corners, normals, areas))
        self.field: tuple[np.ndarray, ...] | None = None
        if len(corners):
            tree = build_tree(corners.min(axis=1), corners.max(axis=1))
            self.field = (corners, *tree[:4], *_cluster_moments(corners, normals, areas, *tree[:3]))
            self.boxes = tree.low, tree.high

    def at(self, points: np.ndarray) -> np.ndarray:
        """Winding number about each of ``points`` (n,3), as (n,) float64."""
        points = np.ascontiguousarray(points, dtype=np.float64)
        if self.field is None:
            return np.zeros(len(points))
        w = np.empty(len(points))
        _winding_numbers(len(points), points, self.field, w)
        return w

    def contains(self, points: np.ndarray) -> np.ndarray:
        """Whether ``|w| > 1/2`` at each of ``points`` (n,3), as (n,) bool."""
        return np.abs(self.at(points)) > 0.5


@kernel
def _cluster_moments(corners, normals, areas, order, start, end):
    """Per node: area centroid, radius about it, sum of area normals, and their first moment about the centroid."""
    count = len(start)
    centre = np.zeros((count, 3))
    radius = np.zeros(count)
    normal = np.zeros((count, 3))
    moment = np.zeros((count, 3, 3))
    for node in range(count):
        total = 0.0
        for k in range(start[node], end[node]):
            t = corners[order[k]]
            area = areas[order[k]]
            total += area
            for i in range(3):
                normal[node, i] += normals[order[k], i]
                centre[node, i] += area * (t[0, i] + t[1, i] + t[2, i]) / 3.0
        for i in range(3):
            centre[node, i] /= total
        for k in range(start[node], end[node]):
            t = corners[order[k]]
            for i in range(3):
                offset = (t[0, i] + t[1, i] + t[2, i]) / 3.0 - centre[node, i]
                for j in range(3):
                    moment[node, i, j] += offset * normals[order[k], j]
            for c in range(3):
                reach = 0.0
                for i in range(3):
                    reach += (t[c, i] - centre[node, i]) ** 2
                radius[node] = max(radius[node], np.sqrt(reach))
    return centre, radius, normal, moment


@kernel
def _solid_angle(t, q):
    """Signed solid angle of a triangle seen from q, by the arctangent formula of Van Oosterom and Strackee (1983)."""
    a0, a1, a2 = t[0, 0] - q[0], t[0, 1] - q[1], t[0, 2] - q[2]
    b0, b1, b2 = t[1, 0] - q[0], t[1, 1] - q[1], t[1, 2] - q[2]
    c0, c1, c2 = t[2, 0] - q[0], t[2, 1] - q[1], t[2, 2] - q[2]
    la = np.sqrt(a0 * a0 + a1 * a1 + a2 * a2)
    lb = np.sqrt(b0 * b0 + b1 * b1 + b2 * b2)
    lc = np.sqrt(c0 * c0 + c1 * c1 + c2 * c2)
    triple = a0 * (b1 * c2 - b2 * c1) + a1 * (b2 * c0 - b0 * c2) + a2 * (b0 * c1 - b1 * c0)
    ab = a0 * b0 + a1 * b1 + a2 * b2
    bc = b0 * c0 + b1 * c1 + b2 * c2
    ca = c0 * a0 + c1 * a1 + c2 * a2
    return 2.0 * np.arctan2(triple, la * lb * lc + ab * lc + bc * la + ca * lb)


@kernel
def winding_at(q, field):
    """Winding number about one point: a far node of the tree answers by its moments, a near leaf by its triangles."""
    corners, order, start, end, child, centre, radius, normal, moment = field
    stack = np.empty(STACK_SIZE, dtype=np.int32)
    stack[0] = 0
    depth = 1
    total = 0.0
    while depth > 0:
        depth -= 1
        node = stack[depth]
        d0, d1, d2 = centre[node, 0] - q[0], centre[node, 1] - q[1], centre[node, 2] - q[2]
        distance2 = d0 * d0 + d1 * d1 + d2 * d2
        reach = OPENING_RATIO * radius[node]
        if distance2 > reach * reach:
            n, m = normal[node], moment[node]
            inverse2 = 1.0 / distance2
            inverse3 = inverse2 * np.sqrt(inverse2)
            twice = (
                d0 * (m[0, 0] * d0 + m[0, 1] * d1 + m[0, 2] * d2)
                + d1 * (m[1, 0] * d0 + m[1, 1] * d1 + m[1, 2] * d2)
                + d2 * (m[2, 0] * d0 + m[2, 1] * d1 + m[2, 2] * d2)
            )
            total += inverse3 * (n[0] * d0 + n[1] * d1 + n[2] * d2)
            total += inverse3 * (m[0, 0] + m[1, 1] + m[2, 2] - 3.0 * inverse2 * twice)
        elif child[node] < 0:
            for k in range(start[node], end[node]):
                total += _solid_angle(corners[order[k]], q)
        else:
            stack[depth] = child[node]
            stack[depth + 1] = child[node] + 1
            depth += 2
    return total / (4.0 * np.pi)


@parallel_kernel
def _winding_numbers(first, last, points, field, w):
    for p in range(first, last):
        w[p] = winding_at(points[p], field)
