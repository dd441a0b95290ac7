"""Low-rank stiffness matrix in factored form, an addition to the stiffness assembled from the tets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.linalg


class LowRank(NamedTuple):
    """Symmetric low-rank matrix ``Y C Y^T`` over r unknowns (vertices) with three components each.

    ``vectors`` Y (r,3,k); ``core`` C (k,k), symmetric, possibly indefinite.
    """

    vectors: np.ndarray
    core: np.ndarray

    def scaled(self, factor: float) -> LowRank:
        """Return the matrix times ``factor``."""
        return LowRank(self.vectors, factor * self.core)

    def of(self, rows: np.ndarray) -> LowRank:
        """Return the submatrix of the unknowns ``rows`` (indices or a mask)."""
        return LowRank(self.vectors[rows], self.core)

    def times(self, x: np.ndarray) -> np.ndarray:
        """Return the product ``Y C Y^T x`` (r,3) with a vector ``x`` (r,3)."""
        flat = self.vectors.reshape(-1, len(self.core))
        return (flat @ (self.core @ (x.ravel() @ flat))).reshape(x.shape)

    def work(self, x: np.ndarray) -> float:
        """Return the quadratic form ``x . Y C Y^T x`` of a vector ``x`` (r,3)."""
        along = x.ravel() @ self.vectors.reshape(-1, len(self.core))
        return float(along @ self.core @ along)


def joined(several: Sequence[LowRank]) -> LowRank:
    """Return the sum of low-rank matrices (at least one) over the same unknowns."""
    if len(several) == 1:
        return several[0]
    vectors = np.concatenate([each.vectors for each in several], axis=2)
    return LowRank(vectors, scipy.linalg.block_diag(*(each.core for each in several)))
