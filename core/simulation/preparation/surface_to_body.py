"""Extension of vectors from the vertices of the render surface into the body."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ...geometry.mesh.embedding import Embedding
from ...geometry.mesh.tet_mesh import TetMesh
from ...mechanics.materials.harmonic import stiffness
from ...numerics.linear_solvers.factorized import factorized
from ...numerics.linear_solvers.protocol import DirectSolver

SMOOTHNESS = 1e-6
"""Weight of smoothness relative to the fit of the samples. Smoothness determines the interior, which has no samples."""


class SurfaceToBody:
    """Smooth extension of vectors from embedded surface vertices to tet vertices.

    The extended field ``a`` minimises ``|P a - samples|² + SMOOTHNESS int |grad a|²``. The ``samples`` are the vectors
    at the surface vertices, and ``P a`` are the field's values there. The integral is the Dirichlet energy over the
    tets, in units of the body's size. A uniform field stays uniform. Connected components of the mesh without surface
    vertices get zero.

    ``solver`` factorises the matrix of this linear problem once, for use in every substep.
    """

    def __init__(self, mesh: TetMesh, embedding: Embedding, solver: type[DirectSolver]) -> None:
        self._sample = embedding.matrix(mesh.tets, len(mesh.rest_positions))
        K = stiffness(mesh)
        labels = connected_components(K, directed=False)[1]
        unreached = ~np.isin(labels, labels[np.unique(mesh.tets[embedding.tet_indices])])
        A = self._sample.T @ self._sample + SMOOTHNESS * K + sp.diags(unreached.astype(np.float64))
        self._factor = factorized(A, solver)

    def transpose_product(self, forces: np.ndarray) -> np.ndarray:
        """Return the product ``forces^T E`` (r,s) of forces and the extension matrix E.

        E (n,s) extends scalars from the s surface vertices to the n tet vertices. ``forces`` is (n,r).
        """
        columns = np.array_split(forces, range(3, forces.shape[1], 3), axis=1)
        carried = np.hstack([self._factor.solve(np.ascontiguousarray(each)) for each in columns])
        return np.ascontiguousarray((self._sample @ carried).T)

    def extend(self, samples: np.ndarray) -> np.ndarray:
        """Return vectors (n,3) at the tet vertices, extended from the surface vertices.

        ``samples`` (s,3): vectors at the surface vertices.
        """
        return self._factor.solve(self._sample.T @ samples)
