"""The tests by which [EigenFit19] accepts a simulation (Sec. 3.5), beside which this house goes by the share of each
mode and by what the match takes (:mod:`.matching`, ``StretchLoad.taken``): they let nearly everything pass.
"""

from __future__ import annotations

import numpy as np

ALIKE, HALF = 0.6, 0.5


def alike(products: np.ndarray) -> float:
    """Part of the columns of mass products of two sets of modes (s,s) with an entry over ALIKE: at least HALF is asked
    for, of coarse and fine modes at rest and of current and rest modes in every step.
    """
    return float((np.abs(products).max(axis=0) > ALIKE).mean())
