"""Rotations of point sets.

This module is loaded when Blender starts, so it uses no library but NumPy.
"""

from __future__ import annotations

import numpy as np

from ...geometry.animation.rigid_motions import nearest_rotations


def nearest_rotation(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Return the rotation R (3,3) about the origin for which ``before @ R.T`` is closest to ``after``.

    ``before``, ``after`` (p,3): positions of p points.

    Collinear points give the identity.
    """
    return nearest_rotations(after.T @ before)


def rotation_angle(before: np.ndarray, after: np.ndarray) -> float:
    """Return the angle, rad, of the rotation that best maps the points ``before`` (p,3) to ``after`` (p,3)."""
    nearest = nearest_rotation(before - before.mean(axis=0), after - after.mean(axis=0))
    return float(np.arccos(np.clip(0.5 * (np.trace(nearest) - 1.0), -1.0, 1.0)))
