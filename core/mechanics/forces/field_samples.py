"""Force fields sampled at the nodes of a grid: noise, textures, the flow of a fluid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class FieldSamples:
    """Values of a force field at the nodes of a grid, interpolated trilinearly.

    Beyond the grid's box the values continue constantly. ``values`` (a,b,c,k), in the field's units: k values per node
    (``field_formulas.SAMPLED``), at least two nodes along each axis. ``low``, ``high`` (3,) m: corners of the box.
    """

    low: np.ndarray
    high: np.ndarray
    values: np.ndarray

    def at(self, points: np.ndarray) -> np.ndarray:
        """Return the interpolated values (p,k) at ``points`` (p,3) m."""
        cells = np.array(self.values.shape[:3]) - 1
        knot = np.clip((points - self.low) / (self.high - self.low), 0.0, 1.0) * cells
        corner = np.minimum(knot.astype(np.int64), cells - 1)
        part = knot - corner
        out = np.zeros((len(points), self.values.shape[3]))
        for shift in np.ndindex(2, 2, 2):
            weight = np.where(shift, part, 1.0 - part).prod(axis=1)
            out += weight[:, None] * self.values[tuple((corner + shift).T)]
        return out
