"""Tetrahedra of a body, split into pieces along its seams, and the embedding of its surface."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.spatial import cKDTree

from ...geometry.cuts.manifold_solids import simplified
from ...geometry.mesh.embedding import Embedding, embed, embed_in_pieces
from ...geometry.mesh.surface_mesh import SurfaceMesh
from ...geometry.mesh.tet_mesh import TetMesh, checked_tets
from ...geometry.tetrahedra.smoothing_domains import geometric_domains
from ...geometry.tetrahedra.split_tets import split_tets
from ...geometry.tetrahedra.tetrahedralize import tetrahedralize
from ...jobs.job.body import Body

FLAT = 1e-6
"""Distance, relative to the body's size, by which Clean's surface of a split body may move.

The split leaves thin triangles on the outer surface, from which Clean would make many tets.
"""


def given_mesh(body: Body) -> tuple[TetMesh, Embedding]:
    """Return the mesh that a body brings, and the embedding of its surface."""
    if body.seams is not None:
        return _split(body, checked_tets(body.surface.positions, body.tets, drops_loose=True))
    mesh = TetMesh(body.surface.positions, body.tets)
    return mesh, Embedding.of_rows(sp.identity(len(mesh.rest_positions), format="csr"), mesh.tets)


def made_mesh(body: Body) -> tuple[TetMesh, Embedding]:
    """Return a mesh that fills the body's surface, and the embedding of the surface."""
    if body.seams is None:
        mesh = tetrahedralize(body.surface, body.resolution, body.refinement)
        return mesh, embed(body.surface.positions, mesh)
    before = body.seams.original or body.seams.before(body.surface)
    if body.seams.original is None and body.resolution.method == "clean":
        before = SurfaceMesh(*simplified(before.positions, before.triangles, FLAT * before.size))
    fineness = body.refinement
    if fineness is not None:
        fineness = fineness[cKDTree(body.surface.positions).query(before.positions)[1]]
    return _split(body, tetrahedralize(before, body.resolution, fineness))


def _split(body: Body, whole: TetMesh) -> tuple[TetMesh, Embedding]:
    smoothed = body.resolution.elements == "smoothed"
    group = geometric_domains(whole) if smoothed else np.arange(len(whole.tets))
    mesh = split_tets(whole, body.surface, body.seams.pieces, group)
    return mesh, embed_in_pieces(body.surface.positions, body.seams.pieces, mesh)


def outer_surface(body: Body) -> SurfaceMesh:
    """Return the body's surface without the faces of seams. Vertices keep their indices."""
    if body.seams is None:
        return body.surface
    return SurfaceMesh(body.surface.positions, body.surface.triangles[~body.seams.seam_faces])
