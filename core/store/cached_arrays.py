"""Arrays from a store, held against a schema before anything believes them: kernels do not check indices."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

_KINDS = {"int": "i", "float": "f"}


def sides_of(arrays: Mapping[str, np.ndarray], schema: Mapping[str, str], **known: int) -> dict[str, int] | None:
    """The lengths that the letters of a schema stand for, or None where the arrays are not those of the schema.

    A schema tells of each array its type and its shape: ``{"tets": "i4 t 4", "islands": "int n <m"}``. ``int`` and
    ``float`` are those of any size. A letter is the same length wherever it stands, and as in ``known``; after ``<``
    it is an index's end. Floats are finite.
    """
    if set(arrays) != set(schema):
        return None
    sides, ends = dict(known), []
    for name, words in schema.items():
        array, (kind, *shape) = arrays[name], words.split()
        if shape and shape[-1].startswith("<"):
            ends.append((array, shape.pop()[1:]))
        if array.dtype.kind != _KINDS[kind] if kind in _KINDS else array.dtype != np.dtype(kind):
            return None
        if array.ndim != len(shape) or not np.isfinite(array).all():
            return None
        for side, length in zip(shape, array.shape):
            if (int(side) if side.isdecimal() else sides.setdefault(side, length)) != length:
                return None
    inside = (array.size == 0 or (array.min() >= 0 and array.max() < sides[end]) for array, end in ends)
    return sides if all(inside) else None
