"""Correction of the displayed surface, so that pinned vertices lie exactly at their targets.

Springs hold the pins of a surface that cuts through tets (:mod:`constraints.anchors`). Under load, the springs yield by
about a twentieth of a cell. Where a pin touches another object, this would be visible as a gap. So pinned vertices are
moved to their targets. Vertices within one cell of a pin follow the nearest pin, less with distance.

A frame with a blocked last step is shown without the correction. Its pins could not reach their targets without
crossing an obstacle.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from ...geometry.mesh.embedding import Embedding
from ...mechanics.constraints.anchors import cell_sides
from ...mechanics.constraints.pins import PinnedSurface

REACH = 1.0
"""Distance from a pin, in lattice cells, up to which vertices follow the pin to its target."""


class PinCorrection:
    """Correction that moves the pinned vertices of a displayed surface to their targets.

    Nearby vertices move partly along. ``rest_positions`` (n,3), m: surface vertices at rest.
    """

    def __init__(self, rest_positions: np.ndarray, embedding: Embedding, pinned: PinnedSurface) -> None:
        self._pinned = pinned
        self._near = self._pin = np.zeros(0, dtype=np.int64)
        self._follow = np.zeros((0, 1))
        # Vertices of kinematic regions follow those of the displayed surface.
        self._own = own = pinned.pinned[pinned.pinned < len(rest_positions)]
        if len(own):
            sides = REACH * cell_sides(pinned.mesh)[embedding.tet_indices[own]]
            distance, pin = cKDTree(rest_positions[own]).query(rest_positions)
            follow = 1.0 - distance / sides[pin]
            self._near = np.flatnonzero(follow > 0.0)
            self._pin, self._follow = pin[self._near], follow[self._near, None]

    def apply(self, surface: np.ndarray, frame: int) -> np.ndarray:
        """Return the surface with its pinned vertices at their targets, (n,3), m.

        ``surface`` (n,3), m: simulated surface vertices.
        ``frame``: frame of the pins, counted from 0.
        """
        if len(self._near) == 0:
            return surface
        own, count = self._own, len(self._own)
        held, targets = self._pinned.held[frame][:count, None], self._pinned.targets_of(frame)[:count]
        missing = np.where(held, targets - surface[own], 0.0)
        out = surface.copy()
        out[self._near] += self._follow * missing[self._pin]
        out[own] = surface[own] + missing
        return out
