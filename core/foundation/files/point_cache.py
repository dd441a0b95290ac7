"""PC2 point caches: positions of a fixed number of points, frame by frame, for Blender's Mesh Cache and others.

A header of 32 bytes (``POINTCACHE2``, version 1, points, first frame, frames per sample, samples) and the samples'
float32 coordinates, little-endian.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from .array_file import whole_file


def write_point_cache(
    path: Path, first_frame: int, frames: Iterable[np.ndarray], count: int, points: int, step: int = 1
) -> None:
    """Write ``count`` frames of (points,3) positions, every ``step``-th, atomically; errors as :func:`whole_file`."""
    with whole_file(path) as file:
        file.write(struct.pack("<12siiffi", b"POINTCACHE2\0", 1, points, first_frame, step, count))
        for positions in frames:
            file.write(np.ascontiguousarray(positions, dtype="<f4").ravel())
