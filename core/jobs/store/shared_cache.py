"""Sharing of tetrahedra and modes between stores: playing and baking a body need the same ones."""

from __future__ import annotations

from collections.abc import Iterable

from .frame_store import LENT, FrameStore


def copy_cached_from(store: FrameStore, lenders: Iterable[FrameStore], modes: int) -> None:
    """Copy tetrahedra and ``modes`` modes from other stores, if this store has none itself or other ones.

    Their keys decide if they can be used.
    """
    for kind in LENT:
        for source in (store, *lenders):
            about = source.about_cached(kind)  # modes of a fine body are megabytes
            if about is None or (kind == "subspace" and about.get("modes") != modes):
                continue
            if source is store:
                break
            if (cached := source.read_cached(kind)) is not None:
                store.write_cached(kind, *cached)
                break
