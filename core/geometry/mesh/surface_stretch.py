"""Principal stretches of a deformed surface within its tangent planes."""

from __future__ import annotations

import numpy as np


def principal_stretches(rest: np.ndarray, triangles: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Return the largest and the least principal stretch at vertices, (n,2).

    The squares of a triangle's principal stretches are the eigenvalues of ``G^-1 g``, where G and g hold the scalar
    products of its edges at rest and now. A vertex gets the mean of its triangles, weighted by their areas at rest. A
    vertex that belongs to no triangle with an area has the stretches 1.

    ``rest``, ``positions`` (n,3): of the vertices.
    ``triangles`` (t,3): vertex indices.
    """
    (A, B, C), (a, b, c) = _products(rest[triangles]), _products(positions[triangles])
    squared_area = np.maximum(A * C - B * B, 0.0)
    has_area = squared_area > (1e-6 * (A + C)) ** 2
    divisor = np.where(has_area, squared_area, 1.0)
    half_trace = np.maximum(0.5 * (C * a - 2.0 * B * b + A * c) / divisor, 0.0)
    determinant = np.maximum(a * c - b * b, 0.0) / divisor
    high = half_trace + np.sqrt(np.maximum(half_trace**2 - determinant, 0.0))
    low = determinant / np.where(high > 0.0, high, 1.0)
    weights, corners = np.repeat(np.where(has_area, np.sqrt(squared_area), 0.0), 3), triangles.ravel()
    total = np.bincount(corners, weights, minlength=len(rest))
    found = np.ones((len(rest), 2))
    for k, squares in enumerate((high, low)):
        sums = np.bincount(corners, weights * np.repeat(np.sqrt(squares), 3), minlength=len(rest))
        np.divide(sums, total, out=found[:, k], where=total > 0.0)
    return found


def _products(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the scalar products p.p, p.q and q.q of two edges p and q of triangles (t,3,3)."""
    p, q = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    return tuple(np.einsum("ti,ti->t", *pair) for pair in ((p, p), (p, q), (q, q)))
