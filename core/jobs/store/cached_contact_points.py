"""Contact points on the surface of a body in a subspace, selected once and cached in the body's frame store."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...foundation.files.digest import digest
from ...geometry.mesh.farthest_points import Chosen, farthest_points
from .cached_arrays import sides_of
from .frame_store import FrameStore

TOUCHING_FORMAT = 1
"""Version in the cache key. Raise it when the same positions give other contact points than before."""


def cached_farthest_points(store: FrameStore | None, go_on: Callable[[], None]) -> Callable[[np.ndarray, int], Chosen]:
    """Return a function that selects mutually distant points and caches the selection in the store.

    The arguments of that function are the positions (n,3) of all points, and the number of points to select.
    :func:`farthest_points` selects the points. ``go_on`` is called repeatedly during the selection, and may raise an
    exception to stop the selection.
    """

    def choose(positions: np.ndarray, count: int) -> Chosen:
        key = digest(repr((TOUCHING_FORMAT, count)), positions)
        cached = store.read_cached("touching") if store is not None else None
        if (
            cached is not None
            and cached[1].get("key") == key
            and (chosen := _unpacked(cached[0], len(positions), count))
        ):
            return chosen
        chosen = farthest_points(positions, count, go_on)
        if store is not None:
            store.write_cached("touching", chosen._asdict(), {"key": key})
        return chosen

    return choose


def _unpacked(arrays: dict[str, np.ndarray], points: int, count: int) -> Chosen | None:
    """Return the stored selection of at most ``count`` of the ``points`` points, or None if it is invalid."""
    sides = sides_of(arrays, {"points": "int c <n", "nearest": "int n <c"}, n=points)
    return Chosen(**arrays) if sides is not None and 0 < sides["c"] <= count else None
