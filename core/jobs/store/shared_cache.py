"""Sharing of cached results, such as tetrahedra and modes, between the stores of one body."""

from __future__ import annotations

from collections.abc import Iterable

from .frame_store import LENT, FrameStore


def copy_cached_from(store: FrameStore, lenders: Iterable[FrameStore], modes: int) -> None:
    """Copy the cached results that stores can share (``LENT``) into ``store``.

    ``lenders``: other stores. Each result comes from the first of them with such a result.
    ``modes``: required number of modes of a subspace.

    Results in ``store`` are kept, except a subspace with another number of modes. The copies are not validated here.
    Each has a key of the data from which it was computed, and readers check the key.
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
