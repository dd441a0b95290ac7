"""Binary tree of bounding boxes over triangles or tets, for point location and winding numbers.

Elements are sorted along a Morton curve. The sorted range is halved until ``LEAF_SIZE`` elements are left. So the tree
is a few flat arrays that kernels traverse with a small stack, and equal input always gives an equal tree.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...foundation.kernels.jit import inner_kernel, kernel

LEAF_SIZE = 2
STACK_SIZE = 128


class BoundingTree(NamedTuple):
    """Tree of bounding boxes over m elements; node 0 is the root.

    Attributes
    ----------
    order : (m,) int32
        Element indices along the Morton curve.
    start, end : (nodes,) int32
        Range of each node: it holds the elements ``order[start:end]``.
    child : (nodes,) int32
        Index of each node's first child, or -1 at a leaf; the second child comes next. Children come after parents.
    low, high : (nodes, 3) float64
        Lowest and highest coordinates of each node's box.
    """

    order: np.ndarray
    start: np.ndarray
    end: np.ndarray
    child: np.ndarray
    low: np.ndarray
    high: np.ndarray


SPREAD = (
    (32, 0x1F00000000FFFF),
    (16, 0x1F0000FF0000FF),
    (8, 0x100F00F00F00F00F),
    (4, 0x10C30C30C30C30C3),
    (2, 0x1249249249249249),
)
"""Steps (shift, mask) of :func:`_spread`: combine a number with its left shift, then apply the mask."""


def element_boxes(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest and highest coordinates of elements, (m,3) each.

    ``corners`` (m,k,3): k corners of each element.
    """
    # Three times as fast as a minimum over the middle axis of length k.
    columns = [corners[:, k] for k in range(corners.shape[1])]
    return np.minimum.reduce(columns), np.maximum.reduce(columns)


def build_tree(low: np.ndarray, high: np.ndarray) -> BoundingTree:
    """Build a tree over m >= 1 elements.

    ``low``, ``high`` (m,3): bounding boxes of the elements.
    """
    order = np.argsort(_morton_codes(0.5 * (low + high)), kind="stable").astype(np.int32)
    start, end, child = _split(order)
    return BoundingTree(order, start, end, child, *_fit(order, start, end, child, low, high))


def refit(tree: BoundingTree, low: np.ndarray, high: np.ndarray) -> BoundingTree:
    """Return the tree with new boxes for moved elements.

    Queries stay exact. They slow down if elements that are neighbours in the tree move apart.

    ``low``, ``high`` (m,3): bounding boxes of the moved elements.
    """
    return tree._replace(**dict(zip(("low", "high"), _fit(*tree[:4], low, high))))


def _morton_codes(points: np.ndarray) -> np.ndarray:
    """Return the index (m,) uint64 of each point along a Morton (Z-order) curve, 20 bits per axis."""
    corner = points.min(axis=0)
    side = float((points.max(axis=0) - corner).max())
    scale = (2.0**20 - 1.0) / side if side > 0.0 else 0.0
    cells = ((points - corner) * scale).astype(np.uint64)
    x, y, z = (_spread(np.ascontiguousarray(cells[:, axis])) for axis in range(3))
    return x | (y << np.uint64(1)) | (z << np.uint64(2))


def _spread(bits: np.ndarray) -> np.ndarray:
    """Return integers (m,) uint64 with two zeros inserted after each of the lowest 21 bits."""
    for shift, mask in SPREAD:
        bits = (bits | (bits << np.uint64(shift))) & np.uint64(mask)
    return bits


@kernel
def _split(order):
    """Return ``start``, ``end`` and ``child`` of the nodes of a :class:`BoundingTree`, (nodes,) each."""
    m = len(order)
    capacity = 2 * m + 1
    start = np.zeros(capacity, dtype=np.int32)
    end = np.zeros(capacity, dtype=np.int32)
    child = np.full(capacity, -1, dtype=np.int32)
    end[0] = m
    count = 1
    node = 0
    while node < count:
        if end[node] - start[node] > LEAF_SIZE:
            middle = (start[node] + end[node]) // 2
            child[node] = count
            start[count], end[count] = start[node], middle
            start[count + 1], end[count + 1] = middle, end[node]
            count += 2
        node += 1
    return start[:count].copy(), end[:count].copy(), child[:count].copy()


@kernel
def _fit(order, start, end, child, low, high):
    """Return the lowest and highest coordinates of all nodes' boxes, (nodes,3) each."""
    count = len(start)
    box_low = np.full((count, 3), np.inf)
    box_high = np.full((count, 3), -np.inf)
    for node in range(count - 1, -1, -1):
        if child[node] < 0:
            for k in range(start[node], end[node]):
                for i in range(3):
                    box_low[node, i] = min(box_low[node, i], low[order[k], i])
                    box_high[node, i] = max(box_high[node, i], high[order[k], i])
        else:
            for kid in range(child[node], child[node] + 2):
                for i in range(3):
                    box_low[node, i] = min(box_low[node, i], box_low[kid, i])
                    box_high[node, i] = max(box_high[node, i], box_high[kid, i])
    return box_low, box_high


@inner_kernel
def box_distance_squared(tree, node, p):
    """Return the squared distance of a point p from a node's box. The distance is 0 inside the box."""
    total = 0.0
    for i in range(3):
        gap = max(max(tree.low[node, i] - p[i], p[i] - tree.high[node, i]), 0.0)
        total += gap * gap
    return total


@inner_kernel
def next_leaf(stack, depth, p, bound2, tree):
    """Continue a search for leaf nodes near a point. Return the next leaf and the new stack depth.

    A leaf is near if its box is within the squared distance ``bound2`` of the point p. A search begins with a stack of
    zeros (node 0 is the root) and depth 1. It has ended when the returned leaf is -1. The nearer of two children is
    visited first. ``bound2`` may shrink from call to call.
    """
    while depth > 0:
        depth -= 1
        node = stack[depth]
        if box_distance_squared(tree, node, p) > bound2:
            continue
        first = tree.child[node]
        if first < 0:
            return node, depth
        nearer = box_distance_squared(tree, first, p) <= box_distance_squared(tree, first + 1, p)
        stack[depth] = first + 1 if nearer else first
        stack[depth + 1] = first if nearer else first + 1
        depth += 2
    return -1, 0


@inner_kernel
def box_of(corners):
    """Return the lowest and the highest coordinates of points, (3,) each.

    ``corners`` (k,3): the points.
    """
    low, high = corners[0].copy(), corners[0].copy()
    for k in range(1, len(corners)):
        for i in range(3):
            low[i], high[i] = min(low[i], corners[k, i]), max(high[i], corners[k, i])
    return low, high


@inner_kernel
def next_overlap(stack, depth, low, high, tree):
    """Continue a search for leaf nodes in a box. Return the next leaf and the new stack depth.

    The box of the returned leaf overlaps the box of the search. A search begins and ends as in :func:`next_leaf`.

    ``low``, ``high`` (3,): lowest and highest corner of the box of the search.
    """
    while depth > 0:
        depth -= 1
        node = stack[depth]
        overlaps = True
        for i in range(3):
            overlaps = overlaps and tree.low[node, i] <= high[i] and tree.high[node, i] >= low[i]
        if not overlaps:
            continue
        if tree.child[node] < 0:
            return node, depth
        stack[depth], stack[depth + 1] = tree.child[node], tree.child[node] + 1
        depth += 2
    return -1, 0
