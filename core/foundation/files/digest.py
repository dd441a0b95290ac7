"""SHA-256 of arrays and texts."""

from __future__ import annotations

import hashlib

import numpy as np


def digest(*parts: str | np.ndarray) -> str:
    """Return the SHA-256 of texts and arrays, as hexadecimal text.

    The result depends on the order of the parts, and on the arrays' shapes and types.
    """
    sha = hashlib.sha256()
    for part in parts:
        if isinstance(part, str):
            sha.update(part.encode())
        else:
            sha.update(str((part.shape, part.dtype.str)).encode())
            sha.update(np.ascontiguousarray(part).ravel())
    return sha.hexdigest()
