"""Collision proxy, called skin: a closed surface near the render surface, moved by the tets of the draft lattice.

The lattice's own boundary overhangs the body by up to a cell, and render surfaces intersect themselves. The skin is the
level set of :class:`OffsetSurface` by marching tetrahedra [Doi, Koide 1991] on the lattice, with every tet cut into
eight. It has a vertex on each cut edge between two nodes, which are vertices or edge midpoints of the lattice. It is
closed, since nodes on the lattice's boundary always count as outside; manifold, as level sets on simplices are; and
free of intersections, since each triangle lies in one tet.

Trap: without the margins ``CLAMP`` to the nodes and ``APART`` between neighbouring faces, the skin touches itself at
rest, which contact does not allow.
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
"""Least distance of a skin vertex from both nodes of its edge, as a fraction of the edge."""
APART = 0.052
"""Least distance, in cells, between neighbouring faces away from their common edge; contact must begin closer."""
CAVITY, ISLAND = 1.0, 0.02
"""Volumes, in cells, below which closed parts of the skin are removed: walls of cavities, and isolated parts."""


class CollisionProxy(NamedTuple):
    """A collision surface (skin) interpolated from a tet mesh.

    Attributes
    ----------
    rest : (s,3) m
    faces : (f,3) int32
        Oriented outwards.
    carried : (s,n) sparse
        Interpolation weights: ``rest = carried @ X``. At most four entries per row, which sum to 1.
    """

    rest: np.ndarray
    faces: np.ndarray
    carried: sp.csr_matrix


def collision_proxy(surface: SurfaceMesh, mesh: TetMesh) -> CollisionProxy:
    """Return the collision proxy of a surface inside the lattice ``mesh``, uniform or locally refined.

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
    """The p nodes at which a function of ``body`` is evaluated: the n vertices of a lattice, then its edge midpoints.

    ``points`` (p,3) m are the nodes, ``levels`` (p,) m the function, at most 0 inside, ``moved`` (p,) m the offset of
    the surface, ``cells`` (p,) m the cell sizes. ``tets`` (8k,4) may be cut; ``carried`` (p,n): the vertices' weights.
    """

    body: OffsetSurface
    points: np.ndarray
    levels: np.ndarray
    moved: np.ndarray
    cells: np.ndarray
    tets: np.ndarray
    carried: sp.csr_matrix

    def positions(self, ends: np.ndarray, parts: np.ndarray) -> np.ndarray:
        """Return the points (s,3) m at the fractions ``parts`` (s,) of the edges between the nodes ``ends`` (s,2)."""
        a, b = self.points[ends[:, 0]], self.points[ends[:, 1]]
        return a + parts[:, None] * (b - a)

    def roots(self, ends: np.ndarray) -> np.ndarray:
        """Return the fractions (s,), from the inner to the outer node of ``ends`` (s,2), at which edges are cut: the
        intersection with the surface or, if that is offset, the zero of the linearly interpolated levels.
        """
        a, b = ends.T
        low, high = self.levels[a], self.levels[b]
        parts = low / (low - high)
        still = np.flatnonzero((self.moved[a] == 0.0) & (self.moved[b] == 0.0))
        exact = 1.0 - self.body.entered(self.points[b[still]], self.points[a[still]])
        parts[still] = np.where(np.isnan(exact), parts[still], exact)
        return np.clip(parts, CLAMP, 1.0 - CLAMP)

    def fitted(self, ends: np.ndarray, parts: np.ndarray, faces: np.ndarray) -> np.ndarray:
        """Return the fractions ``parts`` (s,) of edges ``ends`` (s,2), fitted to put faces on the offset surface."""
        a, b = ends.T
        moved = 0.5 * (self.moved[a] + self.moved[b])
        edges = self.points[b] - self.points[a]
        found = project_to_surface(parts, faces, self.points[a], edges, moved, self.cells[a], self.body.nearest)
        return np.clip(found, CLAMP, 1.0 - CLAMP)


def _nodes(body: OffsetSurface, mesh: TetMesh) -> _Nodes:
    """Return the nodes of a lattice, with the body evaluated at vertices and at midpoints of tets not deep inside."""
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
    """Return the indices of the nodes on the boundary of tets (m,4), whose edges have the vertices ``ends`` (e,2)."""
    faces = boundary_triangles(tets)
    n = int(tets.max()) + 1
    pairs = np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1).astype(np.int64)
    keys = np.unique(pairs[:, 0] * n + pairs[:, 1])
    return np.concatenate([np.unique(faces), n + np.searchsorted(ends[:, 0] * n + ends[:, 1], keys)])


def _split(positions: np.ndarray, quads: np.ndarray) -> np.ndarray:
    """Split quads (q,4) over positions (s,3) into triangles (2q,3), each along its shorter diagonal."""
    p = positions[quads]
    other = ((p[:, 0] - p[:, 2]) ** 2).sum(axis=1) > ((p[:, 1] - p[:, 3]) ** 2).sum(axis=1)
    quads = np.where(other[:, None], quads[:, [1, 2, 3, 0]], quads)
    return np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])


def _remove_small_components(positions: np.ndarray, faces: np.ndarray, cell: float) -> np.ndarray:
    """Return ``faces`` (f,3) without small cavities, parts inside these, and small isolated parts; ``cell`` in m³."""
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
