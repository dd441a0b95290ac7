"""Collision proxy, called skin: a closed surface near the render surface, moved by the tets of the draft lattice.

The lattice's own boundary overhangs the body by up to a cell, and render surfaces intersect themselves. The skin is the
level set of :class:`OffsetSurface`, computed by marching tetrahedra [Doi, Koide 1991]. For this, every tet of the
lattice is cut into eight small tets, whose nodes are the vertices and edge midpoints of the lattice. The skin has one
vertex on each edge of a small tet between an inside and an outside node. The skin is closed, since nodes on the
lattice's boundary always count as outside. The skin is manifold, as level sets on simplices are. The skin is free of
intersections, since each triangle lies in one small tet.

Without the minimum distances ``CLAMP`` (to the nodes) and ``APART`` (between neighbouring faces), the skin would touch
itself at rest, which contact does not allow.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ...foundation.errors import MeshError
from ...geometry.mesh.surface_mesh import SurfaceMesh
from ...geometry.mesh.tet_mesh import TetMesh
from ...geometry.mesh.topology import boundary_triangles, vertex_components
from ...geometry.mesh.winding_number import WindingNumber
from .marching_tetrahedra import cut_edges, halved_edges, parts_of_eight
from .offset_surface import BESIDE, OffsetSurface
from .skin_projection import project_to_surface
from .skin_untangling import separate_thin_faces

CLAMP = 0.15
"""Least distance of a proxy vertex from both ends of its tet edge, as a fraction of the edge."""
APART = 0.052
"""Minimum distance, in cells, between neighbouring faces of the proxy, apart from their common edge.

The distance at which contact begins must be smaller, so that neighbouring faces do not repel each other at rest.
"""
CAVITY, ISLAND = 1.0, 0.02
"""Volumes, in cells, below which closed components of the proxy are removed.

``CAVITY`` is for cavity walls, and ``ISLAND`` for isolated components.
"""


class CollisionProxy(NamedTuple):
    """A collision surface (skin) interpolated from a tet mesh.

    Attributes
    ----------
    rest : (s,3) m, rest positions of the skin's vertices
    faces : (f,3) int32
        Triangles, oriented outwards.
    carried : (s,n) sparse
        Weights that interpolate the skin's vertices from the n tet vertices at X (n,3): ``rest = carried @ X``. A row
        has at most four entries, which sum to 1.
    """

    rest: np.ndarray
    faces: np.ndarray
    carried: sp.csr_matrix


def collision_proxy(surface: SurfaceMesh, mesh: TetMesh) -> CollisionProxy:
    """Return the collision proxy of a body, interpolated from the vertices of its lattice.

    ``surface``: surface of the body.
    ``mesh``: lattice of the body, which may be locally refined.

    Raises MeshError if the lattice has so few tets that no node lies inside the body.
    """
    nodes = _nodes(OffsetSurface(surface), mesh)
    cut = cut_edges(nodes.tets, nodes.levels <= 0.0)
    if len(cut.ends) == 0:
        raise MeshError(
            "The body is too small for its cells to form a contact surface.",
            "Raise Cells Across, the number of cells along its longest side.",
        )
    parts = nodes.roots(cut.ends)
    positions = nodes.positions(cut.ends, parts)
    faces = np.concatenate([cut.triangles, _split(positions, cut.quads)])
    faces = _remove_small_components(positions, faces, float(np.median(nodes.cells)) ** 3)
    used, numbered = np.unique(faces, return_inverse=True)
    ends, faces = cut.ends[used], numbered.reshape(-1, 3).astype(np.int32)
    parts = nodes.fitted(ends, parts[used], faces)
    least = APART * nodes.cells[ends].min(axis=1)
    parts = separate_thin_faces(parts, faces, least, lambda tried: nodes.positions(ends, tried))
    a, b = ends.T
    carried = (sp.diags(1.0 - parts) @ nodes.carried[a] + sp.diags(parts) @ nodes.carried[b]).tocsr()
    return CollisionProxy(carried @ mesh.rest_positions, faces, carried)


class _Nodes(NamedTuple):
    """Nodes of marching tetrahedra: the n vertices of a lattice, then its edge midpoints, p in all.

    Attributes
    ----------
    body : OffsetSurface
    points : (p,3) m, positions of the nodes
    levels : (p,) m, signed distance from the offset surface, at most 0 inside
    moved : (p,) m, outward offset of the surface near each node
    cells : (p,) m, cell size at each node
    tets : (t,4) node indices of the tets that the surface may cut
    carried : (p,n) sparse, weights that interpolate the nodes from the lattice vertices
    """

    body: OffsetSurface
    points: np.ndarray
    levels: np.ndarray
    moved: np.ndarray
    cells: np.ndarray
    tets: np.ndarray
    carried: sp.csr_matrix

    def positions(self, ends: np.ndarray, parts: np.ndarray) -> np.ndarray:
        """Return the points (s,3), m, at the fractions ``parts`` (s,) of the edges between two nodes."""
        a, b = self.points[ends[:, 0]], self.points[ends[:, 1]]
        return a + parts[:, None] * (b - a)

    def roots(self, ends: np.ndarray) -> np.ndarray:
        """Return the fractions (s,) at which the surface cuts edges between nodes ``ends`` (s,2), from inside."""
        a, b = ends.T
        low, high = self.levels[a], self.levels[b]
        parts = low / (low - high)
        still = np.flatnonzero((self.moved[a] == 0.0) & (self.moved[b] == 0.0))
        exact = 1.0 - self.body.entered(self.points[b[still]], self.points[a[still]])
        parts[still] = np.where(np.isnan(exact), parts[still], exact)
        return np.clip(parts, CLAMP, 1.0 - CLAMP)

    def fitted(self, ends: np.ndarray, parts: np.ndarray, faces: np.ndarray) -> np.ndarray:
        """Return improved fractions (s,) of the vertices, with faces that lie closer to the offset surface."""
        a, b = ends.T
        moved = 0.5 * (self.moved[a] + self.moved[b])
        edges = self.points[b] - self.points[a]
        found = project_to_surface(parts, faces, self.points[a], edges, moved, self.cells[a], self.body.nearest)
        return np.clip(found, CLAMP, 1.0 - CLAMP)


def _nodes(body: OffsetSurface, mesh: TetMesh) -> _Nodes:
    """Return the nodes of a lattice with their signed distances from the offset surface.

    The edge midpoints of tets deep inside count as inside, without evaluation. Nodes on the lattice's boundary count as
    outside.
    """
    X, tets, n = mesh.rest_positions, mesh.tets, len(mesh.rest_positions)
    ends, edge_of = halved_edges(tets)
    middles, count = n + edge_of, n + len(ends)
    points = np.concatenate([X, 0.5 * (X[ends[:, 0]] + X[ends[:, 1]])])
    lengths = np.linalg.norm(X[ends[:, 0]] - X[ends[:, 1]], axis=1)
    longest = lengths[edge_of].max(axis=1)
    cells = np.full(count, np.inf)
    np.minimum.at(cells, np.concatenate([tets, middles], axis=1), longest[:, None])

    levels, moved = np.full(count, -np.inf), np.zeros(count)
    levels[:n], moved[:n] = body.at(X, cells[:n])
    border = np.zeros(count, dtype=bool)
    border[_border(tets, ends)] = True
    near = (border[tets] | (levels[tets] > -0.5 * longest[:, None])).any(axis=1)
    queried = np.unique(middles[near])
    levels[queried], moved[queried] = body.at(points[queried], cells[queried])
    levels -= moved
    # Tets left out count as inside, even near openings with small winding numbers; the border counts as outside.
    deep = np.unique(middles[~near])
    levels[deep] = np.minimum(levels[deep], -BESIDE * cells[deep])
    levels[border] = np.maximum(levels[border], BESIDE * cells[border])
    half = np.tile([0.5], 2 * len(ends))
    upper, lower = (
        sp.identity(n, format="csr"),
        sp.csr_matrix((half, ends.ravel(), np.arange(0, len(half) + 1, 2)), shape=(len(ends), n)),
    )
    parts = parts_of_eight(tets[near], middles[near], points)
    return _Nodes(body, points, levels, moved, cells, parts, sp.vstack([upper, lower], format="csr"))


def _border(tets: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return the indices of the nodes (vertices, then edge midpoints) on the boundary of tets (m,4)."""
    faces = boundary_triangles(tets)
    n = int(tets.max()) + 1
    pairs = np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1).astype(np.int64)
    keys = np.unique(pairs[:, 0] * n + pairs[:, 1])
    return np.concatenate([np.unique(faces), n + np.searchsorted(ends[:, 0] * n + ends[:, 1], keys)])


def _split(positions: np.ndarray, quads: np.ndarray) -> np.ndarray:
    """Return triangles (2q,3) from quads (q,4), each split along its shorter diagonal."""
    p = positions[quads]
    other = ((p[:, 0] - p[:, 2]) ** 2).sum(axis=1) > ((p[:, 1] - p[:, 3]) ** 2).sum(axis=1)
    quads = np.where(other[:, None], quads[:, [1, 2, 3, 0]], quads)
    return np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])


def _remove_small_components(positions: np.ndarray, faces: np.ndarray, cell: float) -> np.ndarray:
    """Return faces (f,3) without small cavities, components in such cavities, and small isolated components."""
    part = vertex_components(faces)
    p = positions[faces] - positions.mean(axis=0)
    volumes = np.bincount(part, np.einsum("fi,fi->f", p[:, 0], np.cross(p[:, 1], p[:, 2])) / 6.0) / cell
    hollow, kept = (volumes < 0.0) & (volumes > -CAVITY), (volumes <= -CAVITY) | (volumes >= ISLAND)
    kept[volumes.argmax()] = True
    if hollow.any():
        firsts = positions[faces[np.unique(part, return_index=True)[1], 0]]
        within = WindingNumber(positions, faces[hollow[part]]).contains(firsts)
        kept &= ~(within & (volumes < CAVITY))
    return faces[kept[part]]
