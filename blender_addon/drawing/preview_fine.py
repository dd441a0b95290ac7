"""Subdivision of a simulated mesh on the GPU.

The subdivided vertices are a sparse matrix times the mesh's vertices.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.sparse as sp

from ..scene_import.subdivision_in import SubdivisionMatrix
from .preview_mesh import CardVertices, card_edges, fans_of


class FineCard:
    """Subdivided mesh for the GPU, with m vertices from n mesh vertices.

    Numbers have 32 bits. Faces are shaded smooth or flat as in Blender. With ``mirrored``, positions are given in
    mirrored coordinates, so the faces are flipped to point outwards.

    ``triangles`` (t,3): indices of subdivided vertices.
    """

    def __init__(self, made: SubdivisionMatrix, mirrored: bool = False) -> None:
        self.matrix, turn = made.matrix, slice(None, None, -1 if mirrored else 1)
        quads = made.quads[:, turn]
        first, own = fans_of(quads, made.normals[:, turn])
        vertices, count = quads.ravel()[first], self.matrix.shape[0]
        self.triangles, self._corners = _halved(quads), np.ascontiguousarray(quads.T)
        ones, each = np.ones(own.size, dtype=np.float32), np.repeat(np.arange(len(own)), 4)
        self._around = sp.csr_matrix((ones, (own.ravel(), each)), shape=(len(vertices), len(own)))
        edges = card_edges(vertices, made.edges, count)
        slopes = np.zeros((2, len(vertices), 1), dtype=np.float32)
        self.card = CardVertices(vertices, np.zeros((len(vertices), 3), np.float32), _halved(own), edges, slopes)

    def positions_of(self, positions: np.ndarray) -> np.ndarray:
        """Return the subdivided positions (m,3) for mesh positions (n,3)."""
        return self.matrix @ positions.astype(np.float32)

    def carrier_of(self, vertex: int) -> int:
        """Return the index of the mesh vertex with the largest influence on a subdivided vertex."""
        row = self.matrix[vertex]
        return int(row.indices[row.data.argmax()])

    @cached_property
    def anchors(self) -> np.ndarray:
        """Index of the subdivided vertex that depends most on each mesh vertex, (n,)."""
        by_weight = np.argsort(self.matrix.data, kind="stable")
        rows = np.repeat(np.arange(self.matrix.shape[0]), np.diff(self.matrix.indptr))
        found = np.zeros(self.matrix.shape[1], dtype=np.int64)
        found[self.matrix.indices[by_weight]] = rows[by_weight]
        return found

    def at(self, positions_of: np.ndarray) -> CardVertices:
        """Return the GPU vertices with area-weighted normals.

        ``positions_of`` (m,3): positions of the subdivided vertices.
        """
        a, b, c, d = (positions_of.take(corners, axis=0) for corners in self._corners)
        normals = self._around @ np.cross(c - a, d - b)
        squares = np.einsum("gi,gi->g", normals, normals)
        normals /= np.sqrt(np.maximum(squares, np.finfo(np.float32).tiny))[:, None]
        return self.card._replace(normals=normals)


def _halved(quads: np.ndarray) -> np.ndarray:
    return quads[:, [[0, 1, 2], [0, 2, 3]]].reshape(-1, 3)
