"""Reproducible choices between lengths that are equal except for round-off, as on lattices and symmetric bodies."""

from __future__ import annotations

import numpy as np

ALIKE = 1e-9
"""Relative difference below which two lengths count as equal."""


def jittered(points: np.ndarray, amount: float) -> np.ndarray:
    """Return ``points`` (p,k) plus Gaussian noise from a fixed seed. The noise's standard deviation is ``amount`` times
    the standard deviation of the points' coordinates.

    The noise breaks ties reproducibly. Otherwise round-off would break them, differently on another processor or in
    another unit of length.
    """
    deviation = np.sqrt(np.mean(np.var(points, axis=0))) if len(points) else 0.0
    return points + amount * deviation * np.random.default_rng(0).standard_normal(points.shape)


def first_largest(values: np.ndarray, alike: float = ALIKE) -> np.ndarray:
    """Return the row index of the largest value in each column of ``values`` (p,...), which must be positive. Rows
    within the relative difference ``alike`` of the largest value count as equal; the first of them is returned.
    """
    return (values >= (1.0 - alike) * values.max(axis=0)).argmax(axis=0)


def subdivision_counts(lengths: np.ndarray, longest: np.ndarray | float) -> np.ndarray:
    """Return the smallest number of equal pieces, at least 1, into which each of ``lengths`` must be divided so that no
    piece exceeds ``longest``, up to round-off.
    """
    return np.maximum(np.ceil((1.0 - ALIKE) * lengths / longest), 1).astype(np.int64)
