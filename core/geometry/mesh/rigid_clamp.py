"""Compliance correction for linear lattice tets, which are too stiff beside a clamp: pinned faces, or a rigid part.

The lattice is attached to the clamp as if through a layer of the body's material. The layer's thickness is ``h /
kappa`` with the cell side h, so the correction vanishes with refinement. The correction also compensates for the
excessive stiffness of bodies that are only few cells thick.
"""

from __future__ import annotations

import numpy as np

CELLS, KAPPA = (1.0, 2.0, 4.0), (1.5, 2.0, 3.0)
"""Table of kappa: ``KAPPA`` at the square roots ``CELLS`` of the clamped area, in cell sides."""


def clamp_layer_kappa(cells: np.ndarray) -> np.ndarray:
    """Return kappa (k,), the cell side divided by the thickness of the compliant layer, at k clamps. ``cells`` (k,) are
    the square roots of the clamped areas, in cell sides.
    """
    return np.interp(cells, CELLS, KAPPA)
