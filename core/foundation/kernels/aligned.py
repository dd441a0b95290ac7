"""Matrices aligned to cache lines. In unaligned ones SIMD loads and stores cross lines, which makes products of small
tiles by the BLAS a sixth slower.
"""

from __future__ import annotations

import numpy as np

from .jit import kernel

LINE = 8
"""Number of doubles in a cache line."""


@kernel
def aligned(rows, columns):
    """Return an uninitialised, aligned matrix (rows, columns) of doubles."""
    flat = np.empty(rows * columns + LINE)
    begin = -(flat.ctypes.data // 8) % LINE
    return flat[begin : begin + rows * columns].reshape(rows, columns)
