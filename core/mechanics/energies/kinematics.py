"""Arguments of energies: batches of deformation gradients or stretches, with their decompositions.

The decomposition is computed once for value, gradient, Hessian, the line search and the next iteration.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...foundation.kernels.small_matrix import batch_eigh, batch_stretch, batch_svd


class Deformation(NamedTuple):
    """Deformation gradients with their signed singular value decompositions ``F = U diag(sigma) V^T``.

    ``F``, ``U``, ``V``: (n,3,3); ``sigma``: (n,3).
    """

    F: np.ndarray
    U: np.ndarray
    sigma: np.ndarray
    V: np.ndarray

    @classmethod
    def of(cls, F: np.ndarray, frames: np.ndarray | None = None) -> Deformation:
        """Return deformation gradients F (n,3,3) with their decompositions ``F = U diag(sigma) V^T``.

        ``frames`` (n,3,3), optional, to save time: rotations close to V, for example V of the last iteration.
        """
        return cls(F, *batch_svd(F, frames))

    def stretch(self) -> np.ndarray:
        """Return the polar stretches ``S = R^T F``, (n,6): the components S11, S22, S33, S23, S13, S12."""
        return batch_stretch(self.sigma, self.V)

    def polar(self) -> Stretch:
        """Return the polar stretches ``S = R^T F`` with their eigendecompositions."""
        return Stretch(self.stretch(), self.sigma, self.V)

    def take(self, rows: np.ndarray | slice) -> Deformation:
        """Return the deformations at the indices ``rows``. For a slice, return this whole batch uncopied."""
        return self if isinstance(rows, slice) else Deformation(*(a[rows] for a in self))


class Stretch(NamedTuple):
    """Symmetric stretches with their eigen-decompositions ``S = Q diag(values) Q^T``.

    ``s``: (n,6), the components S11, S22, S33, S23, S13, S12; ``values``: (n,3); ``Q``: (n,3,3).
    """

    s: np.ndarray
    values: np.ndarray
    Q: np.ndarray

    @classmethod
    def of(cls, s: np.ndarray, frames: np.ndarray | None = None) -> Stretch:
        """Return symmetric stretches s (n,6) with their eigendecompositions ``S = Q diag(values) Q^T``.

        ``frames`` (n,3,3), optional, to save time: rotations close to Q, for example Q of the last iteration.
        """
        return cls(s, *batch_eigh(s, frames))

    def take(self, rows: np.ndarray | slice) -> Stretch:
        """Return the stretches at the indices ``rows``. For a slice, return this whole batch uncopied."""
        return self if isinstance(rows, slice) else Stretch(*(a[rows] for a in self))
