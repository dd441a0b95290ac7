"""Pinned vertices of a surface shown exactly where they are held.

Springs hold a surface that cuts through tets, and give way a little under load (:mod:`constraints.anchors`): by a
twentieth of a cell, which would be seen where a pin touches something that does not move with the body. So pinned
vertices are put at their targets, and vertices within a cell of them follow the nearest one by how near they are. A
frame whose last step was blocked is shown as it was solved: its pins did not reach their targets without crossing
what is in their way.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from ..constraints.anchors import cell_sides
from ..constraints.pins import PinnedSurface
from ..mesh.embedding import Embedding

REACH = 1.0
"""Way over which what is near a pin follows it, in cells."""


class PinCorrection:
    """Corrections of a surface whose rest positions are (n,3) m."""

    def __init__(self, rest_positions: np.ndarray, embedding: Embedding, pinned: PinnedSurface) -> None:
        self._pinned = pinned
        self._near = self._pin = np.zeros(0, dtype=np.int64)
        self._follow = np.zeros((0, 1))
        if len(pinned.pinned):
            sides = REACH * cell_sides(pinned.mesh)[embedding.tet_indices[pinned.pinned]]
            distance, pin = cKDTree(rest_positions[pinned.pinned]).query(rest_positions)
            follow = 1.0 - distance / sides[pin]
            self._near = np.flatnonzero(follow > 0.0)
            self._pin, self._follow = pin[self._near], follow[self._near, None]

    def apply(self, surface: np.ndarray, frame: int) -> np.ndarray:
        """The surface (n,3) at a frame, counted from the job's first, with its pins at their targets."""
        if len(self._near) == 0:
            return surface
        pinned = self._pinned
        missing = np.where(pinned.held[frame][:, None], pinned.targets_of(frame) - surface[pinned.pinned], 0.0)
        out = surface.copy()
        out[self._near] += self._follow * missing[self._pin]
        out[pinned.pinned] = surface[pinned.pinned] + missing
        return out
