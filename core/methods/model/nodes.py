"""Dynamic nodes: the places of a body that carry its motion in ConJac ([ConJac20]).

A node of the paper is a vertex. But how far a single vertex gives way under a force depends on its tets: the finer the
mesh, the farther, without end. Here it is the mean of a ball, which all meshes of a body have in common: as large as
its nearest neighbour is far, since balls that meet leave least of what bends between them to follow by itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.spatial import cKDTree

from ...geometry.mesh.embedding import embed
from ...geometry.mesh.tet_mesh import TetMesh
from ...geometry.mesh.topology import vertex_components

SMALLEST, LARGEST = 0.12, 0.45
"""Radii of balls, of the body's size. The first frequency of a cube that one node carries is 1.03 of the right one with
the largest, 1.12 with less than half of it."""

SAMPLES = 400
"""Points in a ball, about."""


class Nodes(NamedTuple):
    """Dynamic nodes: their ``centres`` (k,), vertices, and the averaging matrix ``rows`` (k,n), B: the node positions
    are ``B x``, and each row sums to one.
    """

    centres: np.ndarray
    rows: sp.csr_matrix

    def means(self) -> np.ndarray:
        """``B^T`` for all three axes, (n,3,3k), columns by node, then axis."""
        k, n = self.rows.shape
        means, rows = np.zeros((n, 3, k, 3)), self.rows.tocoo()
        for i in range(3):
            means[rows.col, i, rows.row, i] = rows.data
        return means.reshape(n, 3, 3 * k)


def single_vertices(centres: np.ndarray, count: int) -> Nodes:
    """Nodes that are vertices, of so many."""
    k = len(centres)
    return Nodes(centres, sp.csr_matrix((np.ones(k), (np.arange(k), centres)), shape=(k, count)))


def node_regions(mesh: TetMesh, centres: np.ndarray, pinned: np.ndarray) -> Nodes:
    """Balls around vertices (k,), less toward their borders: of what of them lies in the vertex's own island, and does
    not hang on ``pinned`` vertices.
    """
    rest, label, count = mesh.rest_positions, islands(mesh), len(mesh.rest_positions)
    is_given = np.zeros(count)
    is_given[pinned] = 1.0
    unit, rows = _ball(), []
    for centre, radius in zip(centres, radii(rest[centres], mesh.size), strict=True):
        found = embed(rest[centre] + radius * unit, mesh)
        own = label[mesh.tets[found.tet_indices, 0]] == label[centre]
        weight = np.where(own & ~found.outside, 1.0 - np.sum(unit**2, axis=1), 0.0)
        row = np.asarray((weight @ found.matrix(mesh.tets, count)).ravel()) * (1.0 - is_given)
        row[centre] += SMALLEST * SMALLEST * max(float(row.sum()), 1.0)  # however thin its part
        rows.append(sp.csr_matrix(row / row.sum()))
    return Nodes(centres, sp.vstack(rows, format="csr") if rows else sp.csr_matrix((0, count)))


def radii(places: np.ndarray, size: float) -> np.ndarray:
    """Radii (k,) m of balls around places (k,3) in a body of that size: as far as the nearest other is, in bounds."""
    if len(places) < 2:
        return np.full(len(places), LARGEST * size)
    return np.clip(cKDTree(places).query(places, k=2)[0][:, 1], SMALLEST * size, LARGEST * size)


def islands(mesh: TetMesh) -> np.ndarray:
    """Label of the connected part that each vertex is of, (n,)."""
    label = np.empty(len(mesh.rest_positions), dtype=np.int64)
    label[mesh.tets.ravel()] = np.repeat(vertex_components(mesh.tets), 4)
    return label


def _ball() -> np.ndarray:
    """Points of the unit ball, on a lattice of cubes with centred faces."""
    step = (4.0 * np.pi / 3.0 / SAMPLES * 4.0) ** (1.0 / 3.0)
    cells = np.arange(-int(1.0 / step) - 1, int(1.0 / step) + 2) * step
    corners = np.stack(np.meshgrid(cells, cells, cells, indexing="ij"), axis=-1).reshape(-1, 1, 3)
    faces = 0.5 * step * np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    points = (corners + faces).reshape(-1, 3)
    return points[np.sum(points**2, axis=1) < 1.0]
