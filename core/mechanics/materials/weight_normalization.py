"""Normalization of painted material weights, shared by all user interfaces.

If the weights at a vertex sum to less than one, the first material gets the difference, also where nothing is painted;
larger sums are scaled down to one. Negative weights count as zero.
"""

from __future__ import annotations

import numpy as np

from ...foundation.errors import MaterialError

ROUND_OFF = 1e-5
"""Tolerance for a sum of weights slightly below 1, due to round-off. If at most ``ROUND_OFF`` is missing, the weights
are scaled up to the sum 1. If more is missing, the first material gets the missing weight.
"""


def normalize_weights(weights: np.ndarray) -> np.ndarray:
    """Return the material weights per vertex, (n,k), normalized to rows that sum to 1; k >= 1.

    Raises MaterialError, which names the vertex, if a weight is not a number.
    """
    shares = np.asarray(weights, dtype=np.float64)
    bad = np.argwhere(~np.isfinite(shares))
    if len(bad):
        raise MaterialError(f"A material weight at vertex {bad[0][0]} is not a number.", "Repaint the map there.")
    shares = np.maximum(shares, 0.0)
    shares /= np.maximum(shares.max(axis=1, keepdims=True), 1.0)  # first by the largest, so that no sum overflows
    missing = 1.0 - shares.sum(axis=1)
    short = missing > ROUND_OFF
    shares[short, 0] += missing[short]
    return shares / shares.sum(axis=1, keepdims=True)
