"""Shares of the painted materials, from weights whatever their sum: the one rule, for every interface.

What is missing to a sum of one is the first material, which is where nothing is painted: half a weight is half of it,
whichever tool has left it. More than one is scaled down. Negative weights count as none.
"""

from __future__ import annotations

import numpy as np

from ...foundation.errors import MaterialError

ROUND_OFF = 1e-5
"""By which weights that were meant to have a sum of one may miss it: these are scaled, up or down."""


def normalize_weights(weights: np.ndarray) -> np.ndarray:
    """Shares (n, k) with rows that sum to 1, from weights (n, k), k >= 1.

    MaterialError names the first vertex with a weight that is not a number.
    """
    shares = np.asarray(weights, dtype=np.float64)
    bad = np.argwhere(~np.isfinite(shares))
    if len(bad):
        raise MaterialError(f"A material weight at vertex {bad[0][0]} is not a number.", "Paint the map there again.")
    shares = np.maximum(shares, 0.0)
    shares /= np.maximum(shares.max(axis=1, keepdims=True), 1.0)  # the sum of huge ones is a number, too
    missing = 1.0 - shares.sum(axis=1)
    short = missing > ROUND_OFF
    shares[short, 0] += missing[short]
    return shares / shares.sum(axis=1, keepdims=True)
