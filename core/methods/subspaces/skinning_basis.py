"""Skinning basis of weights ([SubMFEM23] Eq. 10): each weight has an affine transformation.

The coordinates share one scalar basis A (n,r), ``x = X + A U`` with U (r,3). Its columns are the weights times the rest
positions in homogeneous coordinates, which are centred and scaled by the body's size. Columns are made
mass-orthonormal; dependent ones (a flat part, a weight with few vertices) are dropped.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

DEPENDENT = 1e-12
"""Relative eigenvalue of the basis's mass matrix, with columns of unit mass, under which a direction is dependent."""


def skinning_columns(weights: np.ndarray, coordinates: np.ndarray) -> np.ndarray:
    """Return ``w_j(v) X~_k(v)`` for weights (n,m) and homogeneous coordinates (n,4), (n,4m), grouped by weights."""
    return (weights[:, :, None] * coordinates[:, None, :]).reshape(len(weights), -1)


def orthonormal(columns: np.ndarray, mass: sp.csr_matrix) -> np.ndarray:
    """Return the transformation T (k,r) for which ``columns @ T`` is mass-orthonormal."""
    gram = columns.T @ (mass @ columns)
    length = np.sqrt(np.diag(gram))
    present = length > 0.0
    scale = np.where(present, 1.0 / np.where(present, length, 1.0), 0.0)
    values, vectors = np.linalg.eigh(gram * scale[:, None] * scale[None, :])
    kept = values > DEPENDENT * values[-1]
    return scale[:, None] * vectors[:, kept] / np.sqrt(values[kept])
