"""Force fields sampled at the nodes of a grid: noise, textures, the flow of a fluid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class FieldSamples:
    """Samples ``values`` (a,b,c,k), in the field's units, at a grid of nodes, at least two along each axis, in the box
    from ``low`` to ``high`` (3,) m. They are interpolated trilinearly and extended constantly beyond the box.
    ``field_formulas.SAMPLED`` lists the k values per node.
    """

    low: np.ndarray
    high: np.ndarray
    values: np.ndarray

    def at(self, points: np.ndarray) -> np.ndarray:
        """Return the values (p,k) at points (p,3) m."""
        cells = np.array(self.values.shape[:3]) - 1
        knot = np.clip((points - self.low) / (self.high - self.low), 0.0, 1.0) * cells
        corner = np.minimum(knot.astype(np.int64), cells - 1)
        part = knot - corner
        out = np.zeros((len(points), self.values.shape[3]))
        for shift in np.ndindex(2, 2, 2):
            weight = np.where(shift, part, 1.0 - part).prod(axis=1)
            out += weight[:, None] * self.values[tuple((corner + shift).T)]
        return out
