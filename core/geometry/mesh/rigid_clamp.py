"""Compliance correction where a rigid part holds the lattice, so that it is as soft as the material.

Clamped linear tets are too stiff, and a body of few cells through is stiffer than it should be. The attachment makes
up for both, as if further material of the thickness ``h / kappa`` lay between it and the lattice. h is a cell's side,
so that the correction vanishes with the cells.
"""

from __future__ import annotations

import numpy as np

CELLS, KAPPA = (1.0, 2.0, 4.0), (1.5, 2.0, 3.0)
"""Root of the held area, in cells, and kappa there."""


def clamp_layer_kappa(cells: np.ndarray) -> np.ndarray:
    """Return the divisor of a cell's side, for the root of the held area, in cells."""
    return np.interp(cells, CELLS, KAPPA)
