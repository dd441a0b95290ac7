"""Compliance correction for lattice cells that pins or a rigid part hold, against the locking of linear tets.

Linear tets are too stiff where they are clamped, and so is a body that is few cells thick. To compensate for both, the
lattice is attached as if by a layer of the body's material of the thickness ``h / kappa``. h is the side of a cell, so
the correction vanishes with refinement.
"""

from __future__ import annotations

import numpy as np

CELLS, KAPPA = (1.0, 2.0, 4.0), (1.5, 2.0, 3.0)
"""Table of kappa by the square root of the held area, in cell sides (``CELLS``)."""


def clamp_layer_kappa(cells: np.ndarray) -> np.ndarray:
    """Return kappa (k,), the cell side over the layer's thickness, interpolated in the table ``CELLS``, ``KAPPA``.
    ``cells`` (k,) are the square roots of the held areas, in cell sides.
    """
    return np.interp(cells, CELLS, KAPPA)
