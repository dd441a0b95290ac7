"""Skinning basis ([SubMFEM23] Eq. 10): the vertices' displacements if each weight has an affine transformation.

The coordinates x, y, z share one scalar basis A (n,r), ``x = X + A U`` with U (r,3). The columns of A are the weights
times the rest positions in homogeneous coordinates, which are centred and scaled by the body's size. Columns are made
mass-orthonormal. Dependent columns (from a flat part, or a weight with few vertices) are dropped.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

DEPENDENT = 1e-12
"""Threshold below which a direction is dropped as linearly dependent.

The threshold applies to eigenvalues of the columns' mass matrix, relative to the largest eigenvalue. The columns are
first scaled, so that the diagonal of the matrix is 1.
"""


def skinning_columns(weights: np.ndarray, coordinates: np.ndarray) -> np.ndarray:
    """Return the products (n,4m) of skinning weights and homogeneous coordinates of n points.

    ``weights`` (n,m). ``coordinates`` (n,4). The result has four columns per weight.
    """
    return (weights[:, :, None] * coordinates[:, None, :]).reshape(len(weights), -1)


def orthonormal(columns: np.ndarray, mass: sp.csr_matrix) -> np.ndarray:
    """Return the matrix T (k,r) for which the r columns of ``columns @ T`` are mass-orthonormal.

    ``columns`` (n,k): basis of k vectors over the vertices. Linearly dependent directions are dropped.
    """
    gram = columns.T @ (mass @ columns)
    length = np.sqrt(np.diag(gram))
    present = length > 0.0
    scale = np.where(present, 1.0 / np.where(present, length, 1.0), 0.0)
    values, vectors = np.linalg.eigh(gram * scale[:, None] * scale[None, :])
    kept = values > DEPENDENT * values[-1]
    return scale[:, None] * vectors[:, kept] / np.sqrt(values[kept])
