"""Choices among places that must not hang on round-off: on lattices and symmetric bodies many distances are equal."""

from __future__ import annotations

import numpy as np

ALIKE = 1e-9
"""Relative difference of lengths that are one."""


def uneven(places: np.ndarray, by: float) -> np.ndarray:
    """Places (p,k), each shifted at random, the same on every call, with a standard deviation of ``by`` of theirs.

    Else another processor, or another unit of length, would choose other ones of those that are equally far.
    """
    deviation = np.sqrt(np.mean(np.var(places, axis=0))) if len(places) else 0.0
    return places + by * deviation * np.random.default_rng(0).standard_normal(places.shape)


def first_largest(values: np.ndarray, alike: float = ALIKE) -> np.ndarray:
    """Row of the largest of values (p,...), which is positive, in each column: of several that are alike, the first."""
    return (values >= (1.0 - alike) * values.max(axis=0)).argmax(axis=0)


def pieces_of(lengths: np.ndarray, longest: np.ndarray | float) -> np.ndarray:
    """Into how many pieces lengths are cut, at least one, none longer than ``longest`` but for round-off."""
    return np.maximum(np.ceil((1.0 - ALIKE) * lengths / longest), 1).astype(np.int64)
