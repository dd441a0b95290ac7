"""Acceptance tests of [EigenFit19] (Sec. 3.5) for a simulation. They accept nearly everything, so Sinew uses the share
of each mode and the energy share of the match instead (:mod:`.matching`, ``StretchLoad.energy_fraction_removed``).
"""

from __future__ import annotations

import numpy as np

ALIKE, HALF = 0.6, 0.5


def alike(products: np.ndarray) -> float:
    """Return the fraction of columns with an entry over ALIKE in the mass products (s,s) of two sets of modes. The
    paper requires at least HALF: for coarse and fine modes at rest, and for current and rest modes in every step.
    """
    return float((np.abs(products).max(axis=0) > ALIKE).mean())
