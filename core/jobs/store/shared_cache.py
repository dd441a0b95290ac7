"""Sharing of tetrahedra, modes and other cached results between the stores of live mode and of bakes of one body."""

from __future__ import annotations

from collections.abc import Iterable

from .frame_store import LENT, FrameStore


def copy_cached_from(store: FrameStore, lenders: Iterable[FrameStore], modes: int) -> None:
    """Copy the cached results that stores can share (``LENT``) into ``store``. Results that ``store`` already has are
    kept, except a subspace with another number of modes.

    Each result comes from the first of the stores ``lenders`` that has such a result. A subspace is only copied if it
    has ``modes`` modes. The copies are not validated here. A cached result contains a key of the data from which it was
    computed, and a reader compares this key with the present data.
    """
    for kind in LENT:
        for source in (store, *lenders):
            about = source.about_cached(kind)  # without the arrays: modes of a fine body are megabytes
            if about is None or (kind == "subspace" and about.get("modes") != modes):
                continue
            if source is store:
                break
            if (cached := source.read_cached(kind)) is not None:
                store.write_cached(kind, *cached)
                break
