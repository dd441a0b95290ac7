"""Springs that hold the pinned part of a surface inside tets, at sample points on its faces.

Clamping all corners of a tet that a pinned face cuts would hold the body one cell deeper than the face. Instead,
springs hold the face as if a layer of the body's material lay between the face and a clamp. The layer is ``h / kappa``
thick, with the cell side h of the lattice and a dimensionless factor kappa. The spring of a sample has the stiffness

    k_s = kappa E A_s / h

with Young's modulus E of the sample's tet and the area A_s of the sample. The layer's thickness vanishes with h, and
the layer's compliance roughly compensates the excess stiffness of clamped elements.

Two kinds of samples need another stiffness, which contains the dimensionless factor kappa_loose. Edges and single
vertices have no area: their samples in a tet share the stiffness ``kappa_loose E h`` instead. Strips narrower than a
cell have too little area: their samples in a tet share an additional stiffness. The additional stiffness grows from 0
to ``kappa_loose E h`` as the pinned area near the tet shrinks to 0. The stiffness ``kappa_loose E h`` holds a point and
leaves all rotations about the point free.

Each sample lies in one tet, so its stiffness is part of that tet's element matrix.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.spatial import cKDTree

from ...geometry.mesh.embedding import Embedding, embed_in_pieces
from ...geometry.mesh.rigid_clamp import clamp_layer_kappa
from ...geometry.mesh.surface_mesh import SurfaceMesh
from ...geometry.mesh.surface_samples import proper_triangles, sample_surface
from ...geometry.mesh.tet_mesh import TetMesh
from ...geometry.mesh.tie_breaking import ALIKE, subdivision_counts
from ...geometry.mesh.topology import edges_of, vertex_components

CONFORMING, LOOSE = 10.0, 10.0
"""Dimensionless factors of the spring stiffness, with Young's modulus E and the cell side h of the sample's tet.

``CONFORMING`` applies if the tets conform to the surface: a sample of area A on a pinned face has the stiffness
``CONFORMING E A / h``. If faces cut through tets, ``geometry/mesh/rigid_clamp.py`` computes the factor instead.
``LOOSE`` applies to samples on edges and single vertices: such samples in a tet share the stiffness ``LOOSE E h``. The
samples of a narrow strip in a tet share up to ``LOOSE E h`` in addition to their stiffness by area.
"""

REGION = 0.45
"""Factor on kappa, the cell side divided by the thickness of the compliant layer, for kinematic regions.

Tet vertices inside the region stiffen the cut tets, so the layer is thicker. The factor is fitted to the torques of
spheres and cylinders that turn in flesh (``bench attached``).
"""

SPACING = 1.0 / 6.0
"""Distance between samples, in sides of the smallest cell that contains a pin."""

NARROW = 0.5
"""Pinned area, in squared cell sides, below which the pinned part near a tet counts as a narrow strip. The area is
summed over all tets whose centres are at most one cell side from the tet's centre. The springs in the tet share an
additional stiffness. The additional stiffness grows from 0 at the area ``NARROW`` to ``LOOSE E h`` at the area 0, with
Young's modulus E and the cell side h of the tet.
"""


class Anchors(NamedTuple):
    """Springs at s sample points of the pinned part of a surface.

    Attributes
    ----------
    embedding : tet and barycentric coordinates of each sample
    factors : (s,) m, stiffness of each spring divided by Young's modulus of its tet
    target_weights : (s,p) weights that interpolate the samples' targets from the positions of the p pinned vertices
    """

    embedding: Embedding
    factors: np.ndarray
    target_weights: sp.csr_matrix


def conforms(mesh: TetMesh) -> bool:
    """Return True if the tets conform to the surface: the body fills each tet completely."""
    return bool((mesh.whole.fill == 1.0).all())


def cell_sides(mesh: TetMesh) -> np.ndarray:
    """Return the lattice cell size of each tet, (m,) m: the side of a cube of twelve times the tet's volume."""
    return np.cbrt(12.0 * mesh.volumes)


def anchors(
    surface: SurfaceMesh,
    mesh: TetMesh,
    embedding: Embedding,
    pinned: np.ndarray,
    held: np.ndarray,
    own: int | None = None,
) -> Anchors:
    """Return springs that hold the surface at the held vertices, and on all faces and edges between held vertices.

    Parameters
    ----------
    own : number of vertices of the body's own surface; None for all
        The other vertices belong to kinematic regions. Their samples outside all tets are left out.
    embedding : tets and barycentric coordinates of all surface vertices
    pinned : (p,) indices of the pinned surface vertices
    held : (p,) bool, True for the vertices that are pinned in the current interval between frames
    """
    if not held.any():
        nothing = Embedding(np.zeros(0, np.int32), np.zeros((0, 4)), np.zeros(0, dtype=bool))
        return Anchors(nothing, np.zeros(0), sp.csr_matrix((0, len(pinned))))
    sides = cell_sides(mesh)
    side = float(sides[embedding.tet_indices[pinned[held]]].min())
    corners, barycentric, area, part = _samples(surface, pinned[held], SPACING * side, mesh.split is not None)
    points = np.einsum("sc,sci->si", barycentric, surface.positions[corners])
    found = embed_in_pieces(points, embedding.pieces(mesh)[corners[:, 0]], mesh)
    if own is not None:
        inside = np.flatnonzero(~found.outside | (corners < own).all(axis=1))
        found, corners, barycentric, area, part = (
            found.take(inside),
            *(each[inside] for each in (corners, barycentric, area, part)),
        )
    number = np.zeros(len(surface.positions), dtype=np.int64)
    number[pinned[held]] = np.flatnonzero(held)
    rows = np.repeat(np.arange(len(corners)), 3)
    target_weights = sp.csr_matrix(
        (barycentric.ravel(), (rows, number[corners].ravel())), shape=(len(corners), len(pinned))
    )
    kappa = clamp_layer_kappa(np.sqrt(part) / sides[found.tet_indices])
    if conforms(mesh):
        kappa[:] = CONFORMING
    if own is not None:
        inner = (corners >= own).any(axis=1)
        kappa[inner] = REGION * clamp_layer_kappa(np.sqrt(part[inner]) / sides[found.tet_indices[inner]])
    return Anchors(found, _factors(found.tet_indices, area, mesh, sides, kappa), target_weights)


def _samples(
    surface: SurfaceMesh, vertices: np.ndarray, spacing: float, is_split: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return sample points of the faces and edges whose corners are all in ``vertices``, and of single vertices.

    The result has one row per sample: surface vertices (s,3), barycentric coordinates (s,3), area (s,) m², and total
    area (s,) m² of the connected sampled faces. Areas are 0 on edges and single vertices. ``spacing``: distance between
    samples, m. ``is_split``: True if faces that meet at a seam are connected, although they share no vertex.
    """
    X, is_held = surface.positions, np.zeros(len(surface.positions), dtype=bool)
    is_held[vertices] = True
    faces = surface.triangles[is_held[surface.triangles].all(axis=1)]
    faces = faces[proper_triangles(X, faces)]
    on_faces = sample_surface(X, faces, spacing)
    alike = np.unique(X, axis=0, return_inverse=True)[1].ravel()[faces] if is_split else faces
    parts = _areas_of_parts(alike, np.bincount(on_faces.triangle, on_faces.area, len(faces)))
    edges = edges_of(surface.triangles)
    edges = _without(edges[is_held[edges].all(axis=1)], edges_of(faces))
    lengths = np.linalg.norm(X[edges[:, 1]] - X[edges[:, 0]], axis=1)
    pieces = subdivision_counts(lengths, spacing)
    # Edges are sampled at both ends too: a pinned vertex alone in its tet would be held by no spring otherwise.
    edge = np.repeat(np.arange(len(edges)), pieces + 1)
    first = np.cumsum(pieces + 1) - pieces - 1
    along = (np.arange(len(edge)) - first[edge]) / pieces[edge]
    is_held[faces] = False
    is_held[edges] = False
    alone = np.flatnonzero(is_held)
    corners = [faces[on_faces.triangle], edges[edge][:, [0, 1, 1]], np.repeat(alone[:, None], 3, axis=1)]
    at_edges = np.column_stack([1.0 - along, along, np.zeros(len(along))])
    barycentric = [on_faces.barycentric, at_edges, np.tile([1.0, 0.0, 0.0], (len(alone), 1))]
    none = np.zeros(len(edge) + len(alone))
    areas = np.concatenate([on_faces.area, none]), np.concatenate([parts[on_faces.triangle], none])
    return np.concatenate(corners), np.concatenate(barycentric), *areas


def _areas_of_parts(faces: np.ndarray, areas: np.ndarray) -> np.ndarray:
    """Return the total area of the connected part of each face, (f,) m²."""
    part = vertex_components(faces)
    return np.bincount(part, areas)[part]


def _without(edges: np.ndarray, taken: np.ndarray) -> np.ndarray:
    """Return the ``edges`` (e,2) that are not in ``taken`` (t,2)."""
    both, count = np.unique(np.concatenate([edges, taken, taken]), axis=0, return_counts=True)
    return both[count == 1]


def _factors(tets: np.ndarray, area: np.ndarray, mesh: TetMesh, sides: np.ndarray, kappa: np.ndarray) -> np.ndarray:
    """Return the stiffness of each spring divided by Young's modulus of the spring's tet, (s,) m.

    A sample on a face has ``kappa area / h`` with the cell size h, and more in narrow strips. The samples without area
    in a tet share ``LOOSE h``.
    """
    h = sides[tets]
    occupied, place = np.unique(tets, return_inverse=True)
    place = place.reshape(-1)
    held_area = np.bincount(place, area)
    centres = mesh.rest_positions[mesh.tets[occupied]].mean(axis=1)
    near = cKDTree(centres).query_ball_point(centres, (1.0 + ALIKE) * sides[occupied])
    near_area = np.array([held_area[list(others)].sum() for others in near])
    narrow = np.clip(1.0 - near_area / (NARROW * sides[occupied] ** 2), 0.0, 1.0)
    loose = area == 0.0
    count = np.bincount(place, loose)[place]
    of_strip = LOOSE * h * narrow[place] * area / np.where(loose, 1.0, held_area[place])
    return np.where(loose, LOOSE * h / np.maximum(count, 1), kappa * area / h + of_strip)
