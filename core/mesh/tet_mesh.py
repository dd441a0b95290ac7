"""Tetrahedra over vertices, positively oriented."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class TetMesh:
    """A tetrahedral mesh at rest.

    Attributes
    ----------
    rest_positions : (n, 3) float64, metres
    tets : (m, 4) int32
        Positively oriented: ``det [x1-x0, x2-x0, x3-x0] > 0``. Every vertex belongs to a tet.
    """

    rest_positions: np.ndarray
    tets: np.ndarray

    def __post_init__(self) -> None:
        object.__setattr__(self, "rest_positions", np.ascontiguousarray(self.rest_positions, dtype=np.float64))
        object.__setattr__(self, "tets", np.ascontiguousarray(self.tets, dtype=np.int32))

    @property
    def size(self) -> float:
        """Longest side of the bounding box, metres."""
        return float(np.ptp(self.rest_positions, axis=0).max())

    @property
    def volumes(self) -> np.ndarray:
        """Signed volume of each tet, (m,), m³."""
        p = self.rest_positions[self.tets]
        e = p[:, 1:] - p[:, :1]
        return np.einsum("ni,ni->n", e[:, 0], np.cross(e[:, 1], e[:, 2])) / 6.0
