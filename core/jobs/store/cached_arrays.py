"""Validation of arrays from a frame store against a schema of types and shapes.

Kernels do not check indices, so arrays from a file must be valid.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

_KINDS = {"int": "i", "float": "f"}


def sides_of(arrays: Mapping[str, np.ndarray], schema: Mapping[str, str], **known: int) -> dict[str, int] | None:
    """Check that arrays fit a schema, and return the lengths of their axes by letter.

    A schema gives the type and shape per array: ``{"tets": "i4 t 4", "islands": "int n <m"}``. The types ``int`` and
    ``float`` accept any number of bits. A letter denotes an axis, with the same length in all arrays. If the text of an
    array ends with ``<m``, the array's values must be indices from 0 to m - 1. Floats must be finite.

    ``known``: lengths of some letters that are known in advance.

    The result is None if the arrays do not fit.
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
