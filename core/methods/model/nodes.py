"""Dynamic nodes: regions of a body whose motion the solver ConJac [ConJac20] integrates in time.

The rest of the body follows quasistatically. In the paper a node is a vertex. But the compliance of a single vertex
depends on its tets, and diverges as the mesh is refined. Here a node is the mean position in a ball, independent of the
mesh. The ball's radius is the distance from the node to the nearest other node. This radius minimises the deformation
that the quasistatic part must add between the nodes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.spatial import cKDTree

from ...geometry.mesh.embedding import embed_in_pieces
from ...geometry.mesh.tet_mesh import TetMesh
from ...geometry.mesh.topology import vertex_components

SMALLEST, LARGEST = 0.12, 0.45
"""Smallest and largest radius of the ball around a dynamic node, relative to the body's size.

With the radius LARGEST, the first frequency of a cube that has one node is 3 % too high. With less than half of that
radius, the frequency is 12 % too high.
"""

SAMPLES = 400
"""Approximate number of sample points in a ball."""


class Nodes(NamedTuple):
    """Dynamic nodes of ConJac: k weighted means ``B x`` of the vertex positions x.

    ConJac integrates the motion of the nodes in time. The rest of the body follows quasistatically.

    ``centres`` (k,): central vertex of each node. ``rows`` B (k,n): weights of the n vertices; each row sums to one.
    """

    centres: np.ndarray
    rows: sp.csr_matrix

    def means(self) -> np.ndarray:
        """Return the weights of the nodes as a dense array (n,3,3k).

        The first two dimensions are the vertex v and an axis. The 3k columns are ordered by node j, then axis. The
        entry is the weight ``B_jv`` if both axes are the same, else zero. The position of node j is ``sum_v B_jv x_v``.
        """
        k, n = self.rows.shape
        means, rows = np.zeros((n, 3, k, 3)), self.rows.tocoo()
        for i in range(3):
            means[rows.col, i, rows.row, i] = rows.data
        return means.reshape(n, 3, 3 * k)


def single_vertices(centres: np.ndarray, count: int) -> Nodes:
    """Return nodes that are single vertices.

    ``centres`` (k,): indices of these vertices. ``count``: number of vertices of the mesh.
    """
    k = len(centres)
    return Nodes(centres, sp.csr_matrix((np.ones(k), (np.arange(k), centres)), shape=(k, count)))


def node_regions(mesh: TetMesh, centres: np.ndarray, pinned: np.ndarray) -> Nodes:
    """Return nodes that are weighted means over balls around given vertices.

    ``centres`` (k,): indices of the vertices. The weights decrease to zero at the ball's surface. The weights are zero
    at ``pinned`` vertices, and outside the centre's connected component.
    """
    rest, label, count = mesh.rest_positions, islands(mesh), len(mesh.rest_positions)
    is_given = np.zeros(count)
    is_given[pinned] = 1.0
    unit, rows = _ball(), []
    for centre, radius in zip(centres, radii(rest[centres], mesh.size), strict=True):
        piece = np.full(len(unit), 0 if mesh.split is None else mesh.split.pieces[centre])
        found = embed_in_pieces(rest[centre] + radius * unit, piece, mesh)
        own = label[mesh.tets[found.tet_indices, 0]] == label[centre]
        weight = np.where(own & ~found.outside, 1.0 - np.sum(unit**2, axis=1), 0.0)
        row = np.asarray((weight @ found.matrix(mesh.tets, count)).ravel()) * (1.0 - is_given)
        row[centre] += SMALLEST * SMALLEST * max(float(row.sum()), 1.0)  # for thin parts without a sample inside
        rows.append(sp.csr_matrix(row / row.sum()))
    return Nodes(centres, sp.vstack(rows, format="csr") if rows else sp.csr_matrix((0, count)))


def radii(positions: np.ndarray, size: float) -> np.ndarray:
    """Return the radii (k,) m of balls at positions (k,3) m.

    The radius is the distance to the nearest other position, clamped to [SMALLEST, LARGEST] times ``size``, the size of
    the body in m.
    """
    if len(positions) < 2:
        return np.full(len(positions), LARGEST * size)
    return np.clip(cKDTree(positions).query(positions, k=2)[0][:, 1], SMALLEST * size, LARGEST * size)


def islands(mesh: TetMesh) -> np.ndarray:
    """Return the index of the connected component of each vertex, (n,)."""
    label = np.empty(len(mesh.rest_positions), dtype=np.int64)
    label[mesh.tets.ravel()] = np.repeat(vertex_components(mesh.tets), 4)
    return label


def _ball() -> np.ndarray:
    """Return about SAMPLES points (q,3) of the unit ball, on a face-centred cubic lattice."""
    step = (4.0 * np.pi / 3.0 / SAMPLES * 4.0) ** (1.0 / 3.0)
    cells = np.arange(-int(1.0 / step) - 1, int(1.0 / step) + 2) * step
    corners = np.stack(np.meshgrid(cells, cells, cells, indexing="ij"), axis=-1).reshape(-1, 1, 3)
    faces = 0.5 * step * np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    points = (corners + faces).reshape(-1, 3)
    return points[np.sum(points**2, axis=1) < 1.0]
