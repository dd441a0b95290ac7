"""A field of accelerations (wind, an explosion, a local gravity), given at the surface and carried into the body.

The force conjugate to accelerations a at the tet vertices is ``M a`` with the consistent mass: a uniform field is
gravity to the last digit.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from ..materials.harmonic import stiffness
from ..mesh.embedding import Embedding
from ..mesh.tet_mesh import TetMesh
from .step_potential import Motion

SMOOTHNESS = 1e-6
"""Weight of smoothness beside meeting the samples: it decides inside, where nothing is given."""


class SurfaceToBody:
    """Carries vectors at embedded surface vertices to tet vertices: the smoothest field inside that meets them.

    Minimises ``|P a - samples|² + SMOOTHNESS int |grad a|²`` (the Dirichlet energy over the tets, in units of the
    body's size); factorised once. A uniform field comes back uniform. Parts that hold no sample get zero.
    """

    def __init__(self, mesh: TetMesh, embedding: Embedding) -> None:
        n = len(mesh.rest_positions)
        self._sample = embedding.matrix(mesh.tets, n)
        K = stiffness(mesh)
        labels = connected_components(K, directed=False)[1]
        unreached = ~np.isin(labels, labels[np.unique(mesh.tets[embedding.tet_indices])])
        A = self._sample.T @ self._sample + SMOOTHNESS * K + sp.diags(unreached.astype(np.float64))
        self._factor = splu(A.tocsc(), permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})

    def extend(self, samples: np.ndarray) -> np.ndarray:
        """Vectors (s,3) at the surface vertices to the tet vertices, (n,3); same unit."""
        return self._factor.solve(self._sample.T @ samples)


class AccelerationField:
    """``-sum a . M x`` during one step.

    Parameters
    ----------
    mass : (n,n) scalar consistent mass matrix, kg
    accelerations : (n,3) m/s² at the tet vertices
    """

    def __init__(self, mass: sp.csr_matrix, accelerations: np.ndarray) -> None:
        self._forces = mass @ accelerations

    def begin(self, _motion: Motion) -> AccelerationField:
        """Itself: it is the same all through the step."""
        return self

    def value(self, positions: np.ndarray) -> float:
        """J, up to the choice of the origin."""
        return -float(np.sum(self._forces * positions))

    def gradient(self, _positions: np.ndarray) -> np.ndarray:
        """(n,3), N."""
        return -self._forces

    def add_stiffness(self, _positions: np.ndarray, _scale: float, _blocks: np.ndarray) -> None:
        """None: it is linear."""

    def update(self, _positions: np.ndarray) -> bool:
        """Nothing is lagged."""
        return False
