"""Matrices that begin where a line of the processor's cache does: its widest registers then load and store without
crossing from one line to the next, which costs the BLAS a sixth of a product of small tiles.
"""

from __future__ import annotations

import numpy as np

from .jit import kernel

LINE = 8
"""Numbers in a line of the cache."""


@kernel
def aligned(rows, columns):
    """An uninitialised matrix (rows, columns)."""
    flat = np.empty(rows * columns + LINE)
    begin = -(flat.ctypes.data // 8) % LINE
    return flat[begin : begin + rows * columns].reshape(rows, columns)
