"""Checks of the frames of an animated mesh and of the settings of their compression, and the compression's error."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...foundation.errors import MeshError, SettingsError

STATIC = 1e-7
"""Largest displacement from the first frame, as a fraction of the size, that counts as round-off of 32-bit numbers."""


def check_frames(positions: np.ndarray, frames: Sequence[int]) -> None:
    """Raise MeshError if the frames of a mesh are too few, or a position is not finite.

    ``positions`` (f,n,3): vertices of each frame. ``frames``: their f numbers.
    """
    if len(positions) < 2:
        raise MeshError("An animation needs two frames at least.", "Bake more frames.")
    if size_of(positions[0]) == 0.0:
        raise MeshError("All vertices of the mesh are at one point.", "Check the object's scale and its modifiers.")
    finite = np.isfinite(positions).all(axis=2)
    if not finite.all():
        frame, vertex = np.argwhere(~finite)[0]
        raise MeshError(
            f"The position of vertex {vertex} at frame {frames[frame]} is not a number.",
            "Bake again; check modifiers after the bake, and drivers.",
        )


def check_tolerance(tolerance: float) -> None:
    """Raise SettingsError unless a tolerance, a fraction of the size, is positive."""
    if not 0.0 < tolerance < np.inf:
        raise SettingsError(f"The tolerance is {tolerance:g}.", "Set it above 0, such as 0.01: 1 % of the size.")


def check_count(count: int, most: int, noun: str) -> None:
    """Raise SettingsError unless a number of targets or bones is at most ``most``. 0 leaves it to the tolerance."""
    if not 0 <= count <= most:
        raise SettingsError(
            f"{count} {noun} are asked for, and the mesh and its frames have {most} at most.",
            f"Set their number to {most} or less, or to 0 to have it found from the tolerance.",
        )


def size_of(rest: np.ndarray) -> float:
    """Return the size of a mesh: the longest side of the bounding box of its vertices (n,3)."""
    return float(np.ptp(rest, axis=0).max())


def is_still(positions: np.ndarray) -> bool:
    """Return True if no vertex leaves its position at the first frame by more than round-off. ``positions`` (f,n,3)."""
    return bool(np.abs(positions - positions[0]).max() <= STATIC * size_of(positions[0]))


def largest_distance(positions: np.ndarray, shown: np.ndarray) -> float:
    """Return the largest distance of a vertex from its position in any frame, as a fraction of the mesh's size.

    ``positions`` (f,n,3): vertices of each frame, the shape of the first of which is the mesh's. ``shown`` (f,n,3):
    vertices that an engine shows.
    """
    return float(np.linalg.norm(shown - positions, axis=2).max()) / size_of(positions[0])
