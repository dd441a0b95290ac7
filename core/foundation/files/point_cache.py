"""PC2 point caches: positions of a fixed number of points per frame, for Blender's Mesh Cache and other programs.

The file has a header of 32 bytes (``POINTCACHE2``, version 1, number of points, first frame, frames per sample, number
of samples) and the samples' float32 coordinates, little-endian.
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
    """Write a PC2 file atomically.

    ``first_frame``: frame of the first sample.
    ``frames``: position array of each sample, (points,3).
    ``count``, ``points``: numbers of samples and of points.
    ``step``: interval between samples, in frames.
    """
    with whole_file(path) as file:
        file.write(struct.pack("<12siiffi", b"POINTCACHE2\0", 1, points, first_frame, step, count))
        for positions in frames:
            file.write(np.ascontiguousarray(positions, dtype="<f4").ravel())
