"""Deterministic choices between equal distances, which are common on lattices and symmetric bodies."""

from __future__ import annotations

import numpy as np

ALIKE = 1e-9
"""Relative difference below which two lengths count as equal."""


def jittered(points: np.ndarray, amount: float) -> np.ndarray:
    """Add seeded Gaussian noise to points (p,k); its standard deviation is ``amount`` times that of the points.

    Otherwise round-off would break ties, differently on another processor or in another unit of length.
    """
    deviation = np.sqrt(np.mean(np.var(points, axis=0))) if len(points) else 0.0
    return points + amount * deviation * np.random.default_rng(0).standard_normal(points.shape)


def first_largest(values: np.ndarray, alike: float = ALIKE) -> np.ndarray:
    """Return the row of the largest of positive values (p,...) in each column; the first row of a tie."""
    return (values >= (1.0 - alike) * values.max(axis=0)).argmax(axis=0)


def subdivision_counts(lengths: np.ndarray, longest: np.ndarray | float) -> np.ndarray:
    """Return the least number of equal pieces, at least one, that are not longer than ``longest`` but for round-off."""
    return np.maximum(np.ceil((1.0 - ALIKE) * lengths / longest), 1).astype(np.int64)
