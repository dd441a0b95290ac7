"""Collision surfaces of split bodies, with a gap along their seams."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ...contact.barrier.collision_mesh import mean_edge
from ...geometry.mesh.embedding import Embedding, embed_in_pieces
from ...geometry.mesh.face_subdivision import subdivide_faces
from ...geometry.mesh.nearest_point import NearestPointSearch
from ...geometry.mesh.surface_mesh import SurfaceMesh
from ...geometry.mesh.tet_mesh import TetMesh
from ...geometry.mesh.topology import edges_of
from ...jobs.job.body import Body

PARALLEL = 0.05
"""Least square of a direction's part across several seams at a vertex, relative to the largest, that is not round-off.
"""


def split_render_surface(body: Body, mesh: TetMesh, relative_gap: float) -> tuple[np.ndarray, np.ndarray, Embedding]:
    """Return the vertices (s,3), m, the faces and the embedding of the collision surface of a split body.

    The surface is the render surface. Its pieces are moved apart along seams by two distances, so that no contact force
    acts before they part.

    ``relative_gap``: the distance, in mean edges of the surface.
    """
    surface, pieces = body.surface, body.seams.pieces
    closed = _subdivided(surface.positions, surface.triangles, pieces, mesh.mean_edge, 0.0)
    gap = relative_gap * mean_edge(closed[0], closed[1])
    positions = surface.positions if gap == 0.0 else surface.positions + _inwards(body, gap)
    points, faces, owner = _subdivided(positions, surface.triangles, pieces, mesh.mean_edge, gap)
    return points, faces, embed_in_pieces(points, owner, mesh)


def _subdivided(
    positions: np.ndarray, triangles: np.ndarray, pieces: np.ndarray, longest: float, shortest: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return vertices (s,3), faces (f,3), and the piece (s,) of each vertex.

    Edges longer than ``longest``, m, are divided, and edges shorter than ``shortest``, m, collapsed: beside a seam,
    faces may be thinner than the contact distance.
    """
    points, faces, owner, start = [], [], [], 0
    for piece in np.unique(pieces):
        whole = subdivide_faces(SurfaceMesh(positions, triangles[pieces[triangles[:, 0]] == piece]), longest)
        # Two faces that are bisected one after the other have a vertex each in the middle of their common side.
        kept, index = np.unique(whole.positions, axis=0, return_inverse=True)
        own = index.ravel()[whole.triangles]
        a, b = edges_of(own).T
        short = np.flatnonzero(np.linalg.norm(kept[a] - kept[b], axis=1) < shortest)
        links = sp.coo_matrix((np.ones(len(short)), (a[short], b[short])), shape=(len(kept), len(kept)))
        label = connected_components(links, directed=False)[1]
        kept, own = kept[np.unique(label, return_index=True)[1]], label[own]
        faces.append(own[(own != np.roll(own, 1, axis=1)).all(axis=1)].astype(np.int64) + start)
        points.append(kept)
        owner.append(np.full(len(kept), piece))
        start += len(kept)
    return np.concatenate(points), np.concatenate(faces), np.concatenate(owner)


def _inwards(body: Body, gap: float) -> np.ndarray:
    """Return the displacements (n,3), m, of the surface vertices away from the seams of their piece.

    A vertex at the distance d of a seam moves by ``gap - d / 2`` against its normal if that is positive, so vertices
    keep their order. At several seams, the smallest displacement counts that does so for each.
    """
    surface, pieces = body.surface, body.seams.pieces
    n, across = len(surface.positions), body.seams.opposite_faces(surface)
    faces = np.flatnonzero(body.seams.seam_faces)
    own, other = (pieces[surface.triangles[each, 0]] for each in (faces, across))
    normals, pulled = np.zeros((n, 3, 3)), np.zeros((n, 3))
    for a, b in np.unique(np.column_stack([own, other]), axis=0):
        seam = surface.triangles[faces[(own == a) & (other == b)]]
        vertices = np.flatnonzero(pieces == a)
        near = NearestPointSearch(surface.positions, seam).nearest(surface.positions[vertices])
        away = gap - 0.5 * np.linalg.norm(surface.positions[vertices] - near.points, axis=1)
        chosen = np.flatnonzero(away > 0.0)
        direction = near.normals[chosen]
        normals[vertices[chosen]] += direction[:, :, None] * direction[:, None, :]
        pulled[vertices[chosen]] -= away[chosen, None] * direction
    return least_displacements(normals, pulled)


def least_displacements(normals: np.ndarray, pulled: np.ndarray) -> np.ndarray:
    """Return the smallest displacements (n,3), m, of vertices that are moved along several directions each.

    ``normals`` (n,3,3): sums of n n^T over the unit directions n of a vertex. ``pulled`` (n,3), m: sums of the
    displacements along them.
    """
    moved = np.flatnonzero(pulled.any(axis=1))
    displacements = np.zeros_like(pulled)
    inverse = np.linalg.pinv(normals[moved], rcond=PARALLEL, hermitian=True)
    displacements[moved] = (inverse @ pulled[moved, :, None])[:, :, 0]
    return displacements
