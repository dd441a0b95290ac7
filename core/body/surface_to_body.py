"""Vectors that are given at the render surface, carried into the body."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ..linear_solvers.factorized import factorized
from ..linear_solvers.protocol import DirectSolver
from ..materials.harmonic import stiffness
from ..mesh.embedding import Embedding
from ..mesh.tet_mesh import TetMesh

SMOOTHNESS = 1e-6
"""Weight of smoothness beside meeting the samples: it decides inside, where nothing is given."""


class SurfaceToBody:
    """Carries vectors at embedded surface vertices to tet vertices: the smoothest field inside that meets them.

    Minimises ``|P a - samples|² + SMOOTHNESS int |grad a|²`` (the Dirichlet energy over the tets, in units of the
    body's size). A uniform field comes back uniform. Parts that hold no sample get zero. It is asked in every substep,
    so ``solver`` factorises it; painted weights, carried once, go by conjugate gradients (``materials/harmonic.py``).
    """

    def __init__(self, mesh: TetMesh, embedding: Embedding, solver: type[DirectSolver]) -> None:
        self._sample = embedding.matrix(mesh.tets, len(mesh.rest_positions))
        K = stiffness(mesh)
        labels = connected_components(K, directed=False)[1]
        unreached = ~np.isin(labels, labels[np.unique(mesh.tets[embedding.tet_indices])])
        A = self._sample.T @ self._sample + SMOOTHNESS * K + sp.diags(unreached.astype(np.float64))
        self._factor = factorized(A, solver)

    def pulled(self, forces: np.ndarray) -> np.ndarray:
        """``samples -> forces^T a`` of the vectors a that samples are carried to, for forces (n,r): (r,s)."""
        columns = np.array_split(forces, range(3, forces.shape[1], 3), axis=1)
        carried = np.hstack([self._factor.solve(np.ascontiguousarray(each)) for each in columns])
        return np.ascontiguousarray((self._sample @ carried).T)

    def extend(self, samples: np.ndarray) -> np.ndarray:
        """Vectors (s,3) at the surface vertices to the tet vertices, (n,3); same unit."""
        return self._factor.solve(self._sample.T @ samples)
