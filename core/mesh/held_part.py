"""How much a part of a lattice that something rigid holds must give way to be as soft as the material is.

Linear tets that are clamped are too stiff, and a body of few cells through is stiffer than it should be. Who holds them
makes up for both, beside what is held, as if further material of the thickness ``h / kappa`` lay in between: h is a
cell's side, so that it vanishes with the cells.
"""

from __future__ import annotations

import numpy as np

CELLS, KAPPA = (1.0, 2.0, 4.0), (1.5, 2.0, 3.0)
"""Root of the area along which a part is held, in cells, and kappa there."""


def kappa_of(cells: np.ndarray) -> np.ndarray:
    """What divides a cell's side, from the root of the area along which a part is held, in cells."""
    return np.interp(cells, CELLS, KAPPA)
