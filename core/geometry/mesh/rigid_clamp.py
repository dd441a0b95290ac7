"""Compliance correction for lattice elements beside a clamp: pinned faces, or a rigid part.

The lattice is attached to the clamp as if through a layer of the body's material. The layer's thickness is ``h /
kappa`` with the cell side h, so the correction vanishes with refinement. The correction also compensates for the
excessive stiffness of bodies that are only few cells thick.
"""

from __future__ import annotations

import numpy as np

KAPPA_PER_CELL = 3.0
"""kappa divided by the width of the clamped area in cells, fitted to clamped bars (``bench physics``, lattice)."""

WIDEST = 4.0
"""Width of the clamped area, in cells, above which kappa is constant."""


def clamp_layer_kappa(cells: np.ndarray) -> np.ndarray:
    """Return kappa (k,), the cell side divided by the thickness of the compliant layer, at k clamps. ``cells`` (k,) are
    the square roots of the clamped areas, in cell sides.
    """
    return KAPPA_PER_CELL * np.clip(cells, 1.0, WIDEST)
