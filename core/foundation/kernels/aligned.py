"""Matrices aligned to cache lines, so that SIMD loads and stores do not cross them, which would cost the BLAS a sixth
of a product of small tiles.
"""

from __future__ import annotations

import numpy as np

from .jit import kernel

LINE = 8
"""Doubles per cache line."""


@kernel
def aligned(rows, columns):
    """Return an uninitialised matrix (rows, columns)."""
    flat = np.empty(rows * columns + LINE)
    begin = -(flat.ctypes.data // 8) % LINE
    return flat[begin : begin + rows * columns].reshape(rows, columns)
