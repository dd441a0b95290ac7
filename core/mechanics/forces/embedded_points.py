"""Points embedded in tets: their positions, and the effect of forces and stiffnesses at the points on the tets.

A point with barycentric weights b in a tet is at ``y = sum_a b_a x_a``. A force f at the point is ``b_a f`` at corner
a. A stiffness K (3 x 3) at the point is ``b_a b_b K`` between corners a and b, so the sparsity of the system does not
change. Points outside their tet have negative weights; the element matrix is still semi-definite.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from ...foundation.kernels.jit import kernel
from ...geometry.mesh.embedding import Embedding
from ..assembly.pairs import Pairs
from ..assembly.stencils import Stencils

NO_SHARE = 1e-9
"""Barycentric weight treated as zero. A point with a smaller weight at a tet corner does not depend on the corner. In a
subspace, a point does not depend on an unknown whose weight is below this fraction of the point's largest weight.
"""


class EmbeddedPoints:
    """Batch of p points embedded in the tets of a mesh with n vertices.

    Parameters
    ----------
    embedding : tets and barycentric coordinates of the points
    tets : (m,4)
    vertex_count : int
        Number n of vertices of the tet mesh.
    tet_slots : (m,10), optional
        For each of the ten corner pairs (0,0), (1,0), (1,1), (2,0) to (3,3) of a tet: index of the pair's block among
        the blocks of all element matrices. Not needed if each tet is an element.
    """

    is_dense = False
    """True if every point depends on all unknowns, as in a subspace."""

    def __init__(
        self, embedding: Embedding, tets: np.ndarray, vertex_count: int, tet_slots: np.ndarray | None = None
    ) -> None:
        slots = np.arange(10 * len(tets)).reshape(-1, 10) if tet_slots is None else tet_slots
        self._embedding, self._slots = embedding, slots
        self._tets = tets
        self._spread: sp.csr_matrix = embedding.matrix(tets, vertex_count).T.tocsr()

    def __len__(self) -> int:
        return len(self._embedding.tet_indices)

    def positions(self, x: np.ndarray) -> np.ndarray:
        """Return the positions of the points, (p,3) m, for tet vertices at ``x`` (n,3), m.

        Other vertex vectors, such as velocities, are interpolated alike.
        """
        return self._embedding.apply(x, self._tets)

    def moved(self, change: np.ndarray) -> np.ndarray:
        """Return the displacements of the points, (p,3) m. ``change`` (n,3), m: displacements of the tet vertices."""
        return self.positions(change)

    def held(self, vertices: Sequence[int] | np.ndarray) -> np.ndarray:
        """Return the mask (p,) bool of the points that cannot move if the tet ``vertices`` (indices) are fixed."""
        moves = np.ones(self._spread.shape[0], dtype=bool)
        moves[np.asarray(vertices, dtype=np.int64)] = False
        corners = self._tets[self._embedding.tet_indices]
        return ~(moves[corners] & (np.abs(self._embedding.barycentric) > NO_SHARE)).any(axis=1)

    def spread(self, forces: np.ndarray) -> np.ndarray:
        """Return the nodal forces, (n,3) N, that are equivalent to ``forces`` (p,3), N, at the points.

        Sums at the tet vertices have a fixed order.
        """
        return self._spread @ forces

    def add_stiffness(self, K: np.ndarray, scale: float, blocks: np.ndarray) -> None:
        """Add stiffnesses at the points to ``blocks`` (b,3,3), the blocks of all element matrices.

        ``K`` (p,3,3), N/m: symmetric stiffness at each point; ``scale``: factor of the stiffnesses.
        """
        _add_stiffness(self._slots[self._embedding.tet_indices], self._embedding.barycentric, K, scale, blocks)

    def pairs(self, stiffness: Stencils) -> Pairs:
        """Convert a stiffness that couples points to blocks per pair of tet vertices.

        ``stiffness``: Hessians of terms that depend on several points. Indices 0 to p - 1 are the p points of this
        batch. Larger indices are fixed points of obstacles.
        """
        return stiffness.pairs(*self._carriers, self._spread.shape[0])

    @cached_property
    def _carriers(self) -> tuple[np.ndarray, np.ndarray]:
        """Tet vertices that each point depends on, (p,c), and the weights of the vertices, (p,c).

        Tet corners with a negligible weight come last, with the index -1. Otherwise the corners would couple vertices
        that are not in contact.
        """
        shares = self._embedding.barycentric
        none = np.abs(shares) <= NO_SHARE
        order, most = np.argsort(none, axis=1, kind="stable"), int((~none).sum(axis=1).max(initial=1))
        corners = np.where(none, -1, self._tets[self._embedding.tet_indices])
        return tuple(np.take_along_axis(each, order, axis=1)[:, :most].copy() for each in (corners, shares))


@kernel
def _add_stiffness(slots, barycentric, K, scale, blocks):
    for p in range(len(slots)):
        # Most points of a body have no contact.
        if K[p, 0, 0] == 0.0 and K[p, 1, 1] == 0.0 and K[p, 2, 2] == 0.0:
            continue
        pair = 0
        for a in range(4):
            for b in range(a + 1):
                weight = scale * barycentric[p, a] * barycentric[p, b]
                for i in range(3):
                    for j in range(3):
                        blocks[slots[p, pair], i, j] += weight * K[p, i, j]
                pair += 1
