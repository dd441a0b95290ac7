"""Rigid motions that best fit moving points.

This module is loaded when Blender starts, so it uses no library but NumPy.
"""

from __future__ import annotations

import numpy as np

FLAT = 1e-6
"""Largest ratio of the second to the first singular value of a cross-covariance (3,3) of collinear points.

Collinear points do not determine a rotation.
"""


def nearest_rotations(covariances: np.ndarray) -> np.ndarray:
    """Return the rotations R (...,3,3) that maximize ``trace(R.T @ covariance)`` [Kabsch 1976].

    ``covariances`` (...,3,3): sums over points of the outer product of the position after and before the rotation.
    Collinear points give the identity.
    """
    U, spread, Vt = np.linalg.svd(covariances)
    U[..., 2] *= np.sign(np.linalg.det(U @ Vt))[..., None]
    return np.where((spread[..., 1] <= FLAT * spread[..., 0])[..., None, None], np.eye(3), U @ Vt)


def homogeneous(points: np.ndarray) -> np.ndarray:
    """Return the homogeneous coordinates (n,4) of points (n,3)."""
    return np.column_stack([points, np.ones(len(points))])


def rigid_motions(second: np.ndarray, mixed: np.ndarray) -> np.ndarray:
    """Return the rigid motions (f,3,4) that minimize ``sum_i |w_i (R X_i + T) - x_i|²`` in each of f frames.

    ``second`` (4,4): ``sum_i w_i² h_i h_i^T`` with the homogeneous coordinates h of X. ``mixed`` (4,f,3): ``sum_i w_i
    h_i x_i^T``.
    """
    total = max(float(second[3, 3]), np.finfo(float).tiny)
    centre, centres = second[:3, 3] / total, mixed[3] / total
    covariances = (mixed[:3] - centre[:, None, None] * mixed[3]).transpose(1, 2, 0)
    rotations = nearest_rotations(covariances)
    return np.concatenate([rotations, (centres - rotations @ centre)[:, :, None]], axis=2)


def fitted_motions(rest: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Return the rigid motions (f,4,4) that move points from ``rest`` (n,3) closest to ``positions`` (f,n,3)."""
    h = homogeneous(rest)
    motions = np.tile(np.eye(4), (len(positions), 1, 1))
    motions[:, :3] = rigid_motions(h.T @ h, np.einsum("nd,fnx->dfx", h, positions, optimize=True))
    return motions
