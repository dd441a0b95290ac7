"""Compliance correction against the locking of linear lattice tets beside a clamp: pinned faces, or a rigid part.

Linear tets are too stiff near a clamp, and in bodies that are only few cells thick. To compensate for both, the lattice
is attached to the clamp as if through a layer of the body's material. The layer's thickness is ``h / kappa``, with h
the side of a cell, so the correction vanishes with refinement.
"""

from __future__ import annotations

import numpy as np

CELLS, KAPPA = (1.0, 2.0, 4.0), (1.5, 2.0, 3.0)
"""Table of kappa: ``KAPPA`` at the square roots ``CELLS`` of the clamped area, in cell sides."""


def clamp_layer_kappa(cells: np.ndarray) -> np.ndarray:
    """Return kappa (k,), the ratio of the cell side to the thickness of the compliant layer at k clamps, interpolated
    in the table ``CELLS``, ``KAPPA``. ``cells`` (k,) are the square roots of the clamped areas, in cell sides.
    """
    return np.interp(cells, CELLS, KAPPA)
