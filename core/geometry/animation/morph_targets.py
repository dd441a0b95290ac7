"""Relative morph targets of an animated mesh: ``x(t) = X + sum_k w_k(t) d_k``, with the shape X of the first frame.

The few targets of the compressed form are a principal component analysis of the displacements [Alexa and Müller 2000].
Game engines and their importers clamp weights to 0 ... 1. Therefore each component is shifted and scaled to that range.
The shifts, and the mean displacement, are one more target, with the constant weight 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .frame_checks import check_count, check_tolerance, is_still, size_of

ROUNDING = 1e-14
"""Smallest variance of a component, relative to the largest, that is not round-off."""


class MorphTargets(NamedTuple):
    """Morph targets of an animated mesh, and their weights over time.

    Attributes
    ----------
    targets : (k,n,3), displacements from the shape of the first frame
    weights : (f,k), from 0 to 1, at each frame
    """

    targets: np.ndarray
    weights: np.ndarray

    def displacements(self) -> np.ndarray:
        """Return the displacements (f,n,3) from the first frame that an engine shows."""
        return np.tensordot(self.weights, self.targets, axes=1)


def one_per_frame(positions: np.ndarray) -> MorphTargets:
    """Return one target for each frame after the first, with weight 1 in its frame, and 0 in the others.

    ``positions`` (f,n,3): vertices of each frame.
    """
    return MorphTargets(positions[1:] - positions[0], np.eye(len(positions))[:, 1:])


def few_targets(positions: np.ndarray, tolerance: float, count: int = 0) -> MorphTargets:
    """Return the smallest number of targets that keeps each vertex within a distance of its position.

    Parameters
    ----------
    positions : (f,n,3), vertices of each frame
    tolerance : largest distance of a vertex from its position in any frame, as a fraction of the mesh's size
    count : number of targets, 2 at least, regardless of the tolerance, or 0

    Raises
    ------
    SettingsError
        The tolerance is not positive, or there are fewer frames than targets.
    """
    check_tolerance(tolerance)
    check_count(count, len(positions), "morph targets")
    frames, allowed = len(positions), tolerance * size_of(positions[0])
    if is_still(positions):
        return MorphTargets(np.empty((0, *positions.shape[1:])), np.empty((frames, 0)))
    moved = (positions - positions[0]).reshape(frames, -1)
    offset = moved.mean(axis=0)
    left = moved - offset
    variances, components = np.linalg.eigh(left @ left.T)  # ascending
    parts = components.T[variances > ROUNDING * variances[-1]][::-1]
    targets, weights = [], []
    for part in parts[: max(count or frames, 2) - 1]:
        if not count and _longest(left) <= allowed:
            break
        target, low, high = part @ left, part.min(), part.max()
        left -= np.outer(part, target)
        offset += low * target
        targets.append((high - low) * target)
        weights.append((part - low) / (high - low))
    whole = np.array([offset, *targets]).reshape(-1, *positions.shape[1:])
    return MorphTargets(whole, np.column_stack([np.ones(frames), *weights]))


def _longest(flat: np.ndarray) -> float:
    """Return the length of the longest of the vectors whose coordinates are in each row of ``flat`` (f,3n)."""
    return float(np.sqrt(np.square(flat).reshape(-1, 3).sum(axis=1).max(initial=0.0)))
