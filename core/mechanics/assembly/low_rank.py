"""Low-rank stiffness, added to the element stiffness."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.linalg


class LowRank(NamedTuple):
    """Matrix ``Y C Y^T``: ``vectors`` Y (r,3,k) over the r unknowns, ``core`` C (k,k), symmetric, maybe indefinite."""

    vectors: np.ndarray
    core: np.ndarray

    def scaled(self, factor: float) -> LowRank:
        """Return the matrix times a number."""
        return LowRank(self.vectors, factor * self.core)

    def of(self, rows: np.ndarray) -> LowRank:
        """Return the matrix restricted to the unknowns ``rows``."""
        return LowRank(self.vectors[rows], self.core)

    def times(self, x: np.ndarray) -> np.ndarray:
        """Return ``Y C Y^T x`` (r,3)."""
        flat = self.vectors.reshape(-1, len(self.core))
        return (flat @ (self.core @ (x.ravel() @ flat))).reshape(x.shape)

    def work(self, x: np.ndarray) -> float:
        """Return ``x . Y C Y^T x``."""
        along = x.ravel() @ self.vectors.reshape(-1, len(self.core))
        return float(along @ self.core @ along)


def joined(several: Sequence[LowRank]) -> LowRank:
    """Return the sum of at least one low-rank matrix."""
    if len(several) == 1:
        return several[0]
    vectors = np.concatenate([each.vectors for each in several], axis=2)
    return LowRank(vectors, scipy.linalg.block_diag(*(each.core for each in several)))
