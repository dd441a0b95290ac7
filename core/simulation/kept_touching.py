"""Which points of a surface touch for a body in a subspace, as a frame store keeps the choice."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..mesh.farthest_points import Chosen, farthest_points
from .digest import digest
from .frame_store import FrameStore

TOUCHING_FORMAT = 1
"""Part of the key: raise it when other points are chosen from the same ones than before."""


def touching_choice(store: FrameStore | None, go_on: Callable[[], None]) -> Callable[[np.ndarray, int], Chosen]:
    """:func:`farthest_points` that reads its answer from the store where it is kept already, else keeps it there;
    ``go_on`` is called all the time and may raise.
    """

    def choose(positions: np.ndarray, count: int) -> Chosen:
        key = digest(repr((TOUCHING_FORMAT, count)), positions)
        kept = store.read_kept("touching") if store is not None else None
        if kept is not None and kept[1].get("key") == key and (chosen := _unpacked(kept[0], len(positions), count)):
            return chosen
        chosen = farthest_points(positions, count, go_on)
        if store is not None:
            store.keep("touching", chosen._asdict(), {"key": key})
        return chosen

    return choose


def _unpacked(arrays: dict[str, np.ndarray], points: int, count: int) -> Chosen | None:
    """What a store kept, or None on any doubt: the arrays are indices."""
    if set(arrays) != set(Chosen._fields):
        return None
    chosen = Chosen(**arrays)
    if any(array.ndim != 1 or array.dtype.kind != "i" for array in chosen):
        return None
    if not 0 < len(chosen.points) <= count or len(chosen.nearest) != points:
        return None
    ends = (points, len(chosen.points))
    return chosen if all(a.min() >= 0 and a.max() < end for a, end in zip(chosen, ends, strict=True)) else None
