"""Rotation of point sets. Blender's start imports this module, so it uses no library but NumPy."""

from __future__ import annotations

import numpy as np

FLAT = 1e-6
"""Ratio of the second to the first singular value of points on a line, whose rotation is undetermined."""


def nearest_rotation(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Return the rotation R (3,3) for which ``before @ R.T`` is nearest to ``after``, (p,3) both [Kabsch 1976].

    Points in a line give the identity.
    """
    U, spread, Vt = np.linalg.svd(after.T @ before)
    if spread[1] <= FLAT * spread[0]:
        return np.eye(3)
    U[:, 2] *= np.sign(np.linalg.det(U @ Vt))
    return U @ Vt


def rotation_angle(before: np.ndarray, after: np.ndarray) -> float:
    """Return the angle, rad, of the rotation nearest to the motion from ``before`` to ``after``, (p,3) both."""
    nearest = nearest_rotation(before - before.mean(axis=0), after - after.mean(axis=0))
    return float(np.arccos(np.clip(0.5 * (np.trace(nearest) - 1.0), -1.0, 1.0)))
