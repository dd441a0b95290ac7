"""What one store lends another: playing and baking a body need the same tetrahedra and modes."""

from __future__ import annotations

from collections.abc import Iterable

from .frame_store import LENT, FrameStore


def borrow(store: FrameStore, lenders: Iterable[FrameStore], modes: int) -> None:
    """Let a store keep what others keep of tetrahedra and so many modes, where it has none itself or other ones; keys
    tell whether they can be used.
    """
    for kind in LENT:
        for source in (store, *lenders):
            kept = source.read_kept(kind)
            if kept is not None and (kind != "subspace" or kept[1].get("modes") == modes):
                if source is not store:
                    store.keep(kind, *kept)
                break
