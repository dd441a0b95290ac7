"""Reproducible choices between lengths that differ by round-off only, as on lattices and symmetric bodies."""

from __future__ import annotations

import numpy as np

ALIKE = 1e-9
"""Relative difference below which two lengths count as equal."""


def jittered(points: np.ndarray, amount: float) -> np.ndarray:
    """Return points with Gaussian noise from a fixed seed.

    The noise breaks ties reproducibly. Otherwise round-off would break ties, differently on another processor or in
    another unit of length.

    ``points`` (p,k).
    ``amount``: standard deviation of the noise, relative to that of the points' coordinates.
    """
    deviation = np.sqrt(np.mean(np.var(points, axis=0))) if len(points) else 0.0
    return points + amount * deviation * np.random.default_rng(0).standard_normal(points.shape)


def first_largest(values: np.ndarray, alike: float = ALIKE) -> np.ndarray:
    """Return the row index of the largest value in each column.

    Rows within the relative difference ``alike`` of the largest value count as equal. The first of them is returned.

    ``values`` (p,...): positive values.
    """
    return (values >= (1.0 - alike) * values.max(axis=0)).argmax(axis=0)


def subdivision_counts(lengths: np.ndarray, longest: np.ndarray | float) -> np.ndarray:
    """Return the smallest numbers of equal pieces into which lengths must be divided.

    Up to round-off, no piece exceeds ``longest``. The number is at least 1.
    """
    return np.maximum(np.ceil((1.0 - ALIKE) * lengths / longest), 1).astype(np.int64)
