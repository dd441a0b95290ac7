"""Fibre vectors ``v = F a`` of elements in the full space, as linear functions of the vertex positions.

An element has the deformation gradient ``F = sum_i x_i N_i^T`` over its nodes i. A fibre with the rest direction a in
the element is at ``v = sum_i g_i x_i`` with ``g_i = N_i . a``. The interface is that of
:class:`...forces.embedded_points.EmbeddedPoints`; a subspace uses ``ReducedPoints``, with the row ``a`` at rest.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ...foundation.kernels.jit import kernel
from ..assembly.elements import Elements


class FibreVectors:
    """Vectors of f fibres, each in an element.

    Parameters
    ----------
    elements : Elements
    indices : (f,) element of each fibre
    directions : (f,3) unit rest direction of each fibre

    Attributes
    ----------
    matrix : (f,n) sparse, 1/m: the vectors are ``matrix @ x`` for vertex positions x
    """

    def __init__(self, elements: Elements, indices: np.ndarray, directions: np.ndarray) -> None:
        nodes = elements.nodes
        counts = np.diff(nodes.starts)[indices]
        self._starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        own = np.arange(self._starts[-1]) - np.repeat(self._starts[:-1], counts)
        rows = np.repeat(nodes.starts[indices], counts) + own
        self._gradients = np.einsum("ki,ki->k", elements.N[rows], np.repeat(directions, counts, axis=0))
        self._blocks = nodes.block_starts[indices]
        shape = len(indices), elements.vertex_count
        self.matrix = sp.csr_matrix((self._gradients, nodes.vertices[rows], self._starts), shape=shape)
        self._transposed = self.matrix.T.tocsr()

    def __len__(self) -> int:
        return len(self._blocks)

    def positions(self, x: np.ndarray) -> np.ndarray:
        """Return the fibre vectors (f,3) for vertex positions x (n,3), m."""
        return self.matrix @ x

    def moved(self, change: np.ndarray) -> np.ndarray:
        """Return the changes (f,3) of the fibre vectors due to displacements ``change`` (n,3), m, of the vertices."""
        return self.matrix @ change

    def spread(self, forces: np.ndarray) -> np.ndarray:
        """Return the gradient (n,3), N, by the vertex positions, from derivatives by the fibre vectors (f,3), N m."""
        return self._transposed @ forces

    def add_stiffness(self, K: np.ndarray, scale: float, blocks: np.ndarray) -> None:
        """Add ``scale`` times the stiffness of the fibres to the element ``blocks`` (b,3,3).

        ``K`` (f,3,3), N m: second derivatives by the fibre vectors, symmetric.
        """
        _add_stiffness(self._starts, self._blocks, self._gradients, K, scale, blocks)


@kernel
def _add_stiffness(starts, first_blocks, gradients, K, scale, blocks):
    for f in range(len(first_blocks)):
        block = first_blocks[f]
        for a in range(starts[f], starts[f + 1]):
            for b in range(starts[f], a + 1):
                weight = scale * gradients[a] * gradients[b]
                for i in range(3):
                    for j in range(3):
                        blocks[block, i, j] += weight * K[f, i, j]
                block += 1
