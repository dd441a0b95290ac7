"""Compliance correction for lattice elements beside a clamp: pinned faces, or a rigid part.

The lattice is attached to the clamp as if through a layer of the body's material. The layer's thickness is ``h /
kappa``. Here h is the cell side, and kappa is a number from :func:`clamp_layer_kappa`. So the correction vanishes with
refinement. The correction also compensates for the excessive stiffness of bodies that are only few cells thick.
"""

from __future__ import annotations

import numpy as np

KAPPA_PER_CELL = 3.0
"""kappa divided by the width of the clamped area in cells.

kappa is the cell side divided by the thickness of the compliant layer between the lattice and the clamp. The value is
fitted to simulated bars of lattice tets with a clamped end (``bench physics``).
"""

WIDEST = 4.0
"""Width of the clamped area, in cells, above which kappa is constant.

kappa is the cell side divided by the thickness of the compliant layer between the lattice and the clamp.
"""


def clamp_layer_kappa(cells: np.ndarray) -> np.ndarray:
    """Return kappa (k,) at k clamps: the cell side divided by the thickness of the compliant layer.

    ``cells`` (k,): widths of the clamped areas in cells. A width is the square root of the area.
    """
    return KAPPA_PER_CELL * np.clip(cells, 1.0, WIDEST)
