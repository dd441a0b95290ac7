"""Farthest-point sampling: a choice of mutually distant points from a set."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .tie_breaking import ALIKE, first_largest


class Chosen(NamedTuple):
    """Result of :func:`farthest_points` for p input points.

    Attributes
    ----------
    points : (c,), indices of the chosen points, ascending
    nearest : (p,), indices into ``points``: the chosen point nearest to input point i is ``points[nearest[i]]``
    """

    points: np.ndarray
    nearest: np.ndarray


def farthest_points(positions: np.ndarray, count: int, go_on: Callable[[], None] = lambda: None) -> Chosen:
    """Choose mutually distant points.

    The first choices are corners and tips: the extreme points in the 26 directions of a cube's corners, edges and
    faces. Each further choice is the point farthest from all chosen points [Gonzalez 1985, Clustering to Minimize the
    Maximum Intercluster Distance].

    ``positions`` (p,3): points to choose from.
    ``count``: number of points to choose. All p points are chosen if ``count`` is at least p. Otherwise, if
    some of the p points coincide, the result may have fewer than ``count`` points.
    ``go_on``: called before each choice. It may raise an exception to abort.
    """
    if count >= len(positions):
        every = np.arange(len(positions))
        return Chosen(every, every)
    wanted, twice = _outermost(positions), (ALIKE * np.ptp(positions, axis=0).max()) ** 2
    chosen: list[int] = []
    nearest, away = np.zeros(len(positions), dtype=np.int64), np.full(len(positions), np.inf)
    while len(chosen) < count and away.max() > twice:
        go_on()
        chosen.append(wanted.pop(0) if wanted else int(first_largest(away)))
        closer = np.sum((positions - positions[chosen[-1]]) ** 2, axis=1)
        nearest[closer < (1.0 - ALIKE) * away] = len(chosen) - 1
        away = np.minimum(away, closer)
    order = np.argsort(chosen)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return Chosen(np.array(chosen)[order], rank[nearest])


def _outermost(positions: np.ndarray) -> list[int]:
    """Return the indices of the extreme points in the 26 directions of a cube's corners, edges and faces."""
    directions = np.array([direction for direction in np.ndindex(3, 3, 3) if direction != (1, 1, 1)]) - 1.0
    directions = directions[np.argsort(-np.abs(directions).sum(axis=1), kind="stable")]
    size, low, found = np.ptp(positions, axis=0).max(), positions.min(axis=0), {}
    for direction in directions:
        beyond = (positions - low) @ direction
        # Across a flat set all points are equally far out except for round-off; the offset makes them count as equal.
        found[int(first_largest(beyond - beyond.min() + size))] = None
    return list(found)
