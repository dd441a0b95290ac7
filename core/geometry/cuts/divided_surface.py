"""Splitting of a body's surface into closed pieces that touch along coincident seams.

The surface is split beforehand along everything that cutters sweep, and along seams that may tear. So the numbers of
vertices and faces are the same in every frame. Each divider splits all of space, by the sign of a field or into Voronoi
cells, and all dividers together split the body into cells. A cut that ends inside the body is a full split whose
remainder is glued for ever. Pieces that nothing ever separates are joined again.

The booleans are those of Manifold (``manifold_solids.py``). Afterwards both sides of each seam get the same triangles
(``seam_matching.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...foundation.errors import CutError, MeshError
from ...foundation.schema.declared_types import checked
from ..mesh.nearest_point import NearestPointSearch
from ..mesh.surface_mesh import SurfaceMesh
from .closed_surface import ClosedSurface, close_surface
from .dividers import Box, Divider
from .inward_extension import InwardExtension
from .manifold_solids import solid_of, triangles_of
from .pieces import Pieces, component_volumes, edge_components, opposite_faces
from .seam_matching import CellFaces, matched

EDGES_ALONG = 32
"""Edges of seam faces along the longest side of the surface, unless an edge length is given."""
WELDED = 1e-6
"""Distance up to which vertices become one, relative to the size of the surface."""
SLIVER = 1e-3
"""Volume of a piece, relative to the whole body, below which the piece is joined to a neighbour."""
NOTHING = 1e-9
"""Volume of a part, relative to the solid, below which it is a face of the body that lies on a divider."""
MARGIN = 2.0
"""Distance of the box of level sets from the surface, in edge lengths: near the box they are distorted."""
ATTEMPTS = 4
"""Attempts to split: a seam that passes exactly through vertices or edges may touch itself, and is moved a little."""
NUDGE = np.array([1.0, 0.62, 0.38]) * 1e-3
"""Displacement of the dividers for each further attempt, in edge lengths."""
EXACT = 1e-6
"""Distance of a barycentric coordinate from 1 up to which a corner is an original vertex."""


@dataclass(frozen=True)
class SplitSurface:
    """Surface split into closed pieces that share no vertex. Faces of seams coincide in pairs.

    Attributes
    ----------
    surface : SurfaceMesh
        The split surface, n vertices and t triangles.
    pieces : (n,) int32
        Piece of each vertex, from 0.
    seam_faces : (t,) bool
        True for triangles on a seam.
    cut_frames : (n,) float64
        Frame in which a cutter passes each vertex of a seam; inf: never, or not on a seam.
    tear_stress : (n,) float64
        Force per area at which the seam tears at each vertex, Pa; inf: never, or not on a seam.
    source : (t,) int64
        Triangle of the original surface of which each triangle is a part; -1 on seams and where holes were filled.
    weights : (t, 3, 3) float64
        Barycentric coordinates of each triangle's corners in that original triangle; 0 without one.
    original : SurfaceMesh
        The surface before the split.
    slivers : int
        Number of pieces that were joined to a neighbour, since they were too small.
    missed : tuple of int
        Indices of the dividers that separate nothing.
    """

    surface: SurfaceMesh
    pieces: np.ndarray
    seam_faces: np.ndarray
    cut_frames: np.ndarray
    tear_stress: np.ndarray
    source: np.ndarray
    weights: np.ndarray
    original: SurfaceMesh
    slivers: int
    missed: tuple[int, ...]

    @property
    def count(self) -> int:
        """Number of pieces."""
        return int(self.pieces.max()) + 1

    @checked(MeshError)
    def values(self, of_vertices: np.ndarray, inside: bool = True) -> np.ndarray:
        """Return values of the original vertices at the vertices of the split surface, (n,k).

        On the outer surface they are interpolated linearly. ``of_vertices`` (original n,k). ``inside``: carry values to
        vertices inside the body harmonically; otherwise they are 0 there. Raises MeshError if the shape is wrong.
        """
        if of_vertices.ndim != 2 or len(of_vertices) != len(self.original.positions):
            raise MeshError(
                f"The values have shape {of_vertices.shape}.",
                f"Give one row for each of the {len(self.original.positions)} original vertices.",
            )
        out = np.zeros((len(self.pieces), of_vertices.shape[1]))
        outer = np.flatnonzero(self.source >= 0)
        corners = of_vertices[self.original.triangles[self.source[outer]]]
        out[self.surface.triangles[outer]] = np.einsum("tcd,tdk->tck", self.weights[outer], corners)
        within = np.setdiff1d(np.arange(len(out)), self.surface.triangles[outer])
        if inside and len(within) and of_vertices.shape[1]:
            X, T = self.original.positions, self.original.triangles
            out[within] = InwardExtension(X, T, of_vertices).at(self.surface.positions[within])
        return out


def split_by(surface: SurfaceMesh, dividers: Sequence[Divider], edge: float = 0.0) -> SplitSurface:
    """Split a body's surface by dividers.

    The same input gives the same output, bit by bit.

    Parameters
    ----------
    surface : the rest shape; holes are filled, and self-intersections of its parts are allowed
    dividers : what splits the body, one after another
    edge : edge length of seam faces, in the unit of the surface; 0: 1/32 of the surface's size

    Raises
    ------
    CutError
        The dividers leave the body in one piece.
    MeshError
        The surface is not a manifold, or Manifold is missing.
    """
    closed = close_surface(surface)
    size = surface.size
    edge = edge or size / EDGES_ALONG
    corners = surface.positions[closed.triangles]
    margin = MARGIN * edge
    box = Box(corners.min(axis=(0, 1)) - margin, corners.max(axis=(0, 1)) + margin, edge)
    for attempt in range(ATTEMPTS):
        moved = [divider.moved(attempt * NUDGE * edge) for divider in dividers]
        positions, faces, solid, key = _cells(closed, moved, box)
        try:
            faces = matched(positions, faces, WELDED * size)
            break
        except MeshError:
            if attempt == ATTEMPTS - 1:
                raise
    cut, tear, is_free = _seam_values(positions, faces, dividers, edge)
    pieces, slivers = _pieces(positions, faces, is_free, solid, key)
    opposite = opposite_faces(faces)
    stays = (opposite < 0) | (pieces.label != pieces.label[opposite])
    if not (faces.divider[stays] >= 0).any():
        raise CutError(
            "The split leaves the body in one piece.",
            "Move the cutters through the body, or paint weights on both sides of 0.5.",
        )
    split = _assembled(surface, positions, faces.rows(stays), pieces.label[stays], cut, tear)
    missed = tuple(k for k in range(len(dividers)) if not (is_free & stays & (faces.divider == k)).any())
    return replace(split, slivers=slivers, missed=missed)


def _assembled(
    surface: SurfaceMesh, positions: np.ndarray, faces: CellFaces, label: np.ndarray, cut: np.ndarray, tear: np.ndarray
) -> SplitSurface:
    """Return the split surface, with vertices of its own for each piece.

    ``label`` (t,): piece of each face. ``cut``, ``tear`` (n,): values at the vertices of seams.
    """
    first, piece = np.unique(label, return_index=True, return_inverse=True)[1:]
    piece = np.argsort(np.argsort(first))[np.ravel(piece)]  # numbered in the order of the faces
    corners = np.column_stack([faces.triangles.ravel(), np.repeat(piece, 3)])
    vertices, index = np.unique(corners, axis=0, return_inverse=True)
    triangles = np.ravel(index).reshape(-1, 3)
    is_seam = faces.divider >= 0
    on_seam = np.isin(np.arange(len(vertices)), triangles[is_seam])
    return SplitSurface(
        surface=SurfaceMesh(positions[vertices[:, 0]], triangles),
        pieces=vertices[:, 1].astype(np.int32),
        seam_faces=is_seam,
        cut_frames=np.where(on_seam, cut[vertices[:, 0]], np.inf),
        tear_stress=np.where(on_seam, tear[vertices[:, 0]], np.inf),
        source=faces.source,
        weights=_barycentric(surface, positions[faces.triangles], faces.source),
        original=surface,
        slivers=0,
        missed=(),
    )


def _barycentric(surface: SurfaceMesh, corners: np.ndarray, source: np.ndarray) -> np.ndarray:
    """Return the barycentric coordinates (t,3,3) of ``corners`` (t,3,3) in original triangles ``source`` (t,).

    They are 0 where the source is -1, and exactly 1 at original vertices.
    """
    a, b, c = (surface.positions[surface.triangles[np.maximum(source, 0), k]][:, None] for k in range(3))
    u, v, w = b - a, c - a, corners - a
    uu, uv, vv = (np.einsum("tki,tki->tk", x, y) for x, y in ((u, u), (u, v), (v, v)))
    wu, wv = (np.einsum("tki,tki->tk", w, x) for x in (u, v))
    gram = uu * vv - uv * uv
    gram = np.where(gram > 0.0, gram, 1.0)
    second, third = (vv * wu - uv * wv) / gram, (uu * wv - uv * wu) / gram
    weights = np.clip(np.stack([1.0 - second - third, second, third], axis=2), 0.0, 1.0)
    weights /= weights.sum(axis=2, keepdims=True)
    weights = np.where((weights > 1.0 - EXACT).any(axis=2, keepdims=True), np.round(weights), weights)
    return np.where((source >= 0)[:, None, None], weights, 0.0)


def _cells(
    closed: ClosedSurface, dividers: Sequence[Divider], box: Box
) -> tuple[np.ndarray, CellFaces, np.ndarray, np.ndarray]:
    """Return vertices and faces of all cells, then the solid of the body and the key of each cell, (c,)."""
    cells = [divider.cells(box) for divider in dividers]
    made = {cell[1]: k for k, several in enumerate(cells) for cell in several if cell is not None}
    parts, keys, solids = [], [], []
    for number, own in enumerate(closed.solids()):
        whole, identifier = solid_of(closed.positions, closed.triangles[own])
        found = [((), whole)]
        for several in cells:
            found = [((*key, side), part) for key, body in found for side, part in enumerate(_divided(body, several))]
        for key, part in found:
            if part.volume() > NOTHING * whole.volume():
                parts.append((triangles_of(part), own, identifier))
                keys.append(key)
                solids.append(number)
    positions, first, faces = [closed.positions], len(closed.positions), []
    index = {(number, key): cell for cell, (number, key) in enumerate(zip(solids, keys))}
    for cell, (part, own, identifier) in enumerate(parts):
        is_outer = part.solid == identifier
        divider = np.array([made.get(each, -1) for each in part.solid.tolist()], dtype=np.int64)
        source = np.where(is_outer, closed.source[own[np.where(is_outer, part.source, 0)]], -1)
        middle = part.positions[part.triangles].mean(axis=1)
        across = np.full(len(divider), -1)
        for k in np.unique(divider[divider >= 0]):
            here, key = np.flatnonzero(divider == k), keys[cell]
            sides = dividers[k].across(np.full(len(here), key[k]), middle[here]).tolist()
            across[here] = [index.get((solids[cell], (*key[:k], side, *key[k + 1 :])), -1) for side in sides]
        alone = (divider >= 0) & (across < 0)  # a face of the body that lies on the divider
        if alone.any():
            nearest = NearestPointSearch(closed.positions, closed.triangles[own]).nearest(middle[alone]).triangles
            divider[alone], source[alone] = -1, closed.source[own[nearest]]
        faces.append(CellFaces(part.triangles + first, np.full(len(divider), cell), across, divider, source))
        positions.append(part.positions)
        first += len(part.positions)
    sides = {key: k for k, key in enumerate(dict.fromkeys(keys))}
    together = CellFaces(*map(np.concatenate, zip(*(vars(each).values() for each in faces))))
    return np.concatenate(positions), together, np.array(solids), np.array([sides[key] for key in keys])


def _divided(body, cells):
    """Return the parts of a solid in the cells of one divider. A last cell of None is the rest."""
    if cells[-1] is None:
        return body.split(cells[0][0])
    return [body ^ cell for cell, _identifier in cells]


def _seam_values(
    positions: np.ndarray, faces: CellFaces, dividers: Sequence[Divider], edge: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return cut frames and tear stresses of all vertices, (n,) each, and a mask of faces that may come apart, (t,).

    A vertex has the lowest values of the seams at it.
    """
    cut, tear = np.full((2, len(positions)), np.inf)
    is_free = np.zeros(len(faces.cell), dtype=bool)
    for k, divider in enumerate(dividers):
        here = np.flatnonzero(faces.divider == k)
        vertices, index = np.unique(faces.triangles[here], return_inverse=True)
        frames = divider.cut_frames(positions[vertices], edge)
        cut[vertices] = np.minimum(cut[vertices], frames)
        tear[vertices] = np.minimum(tear[vertices], divider.tear_stress)
        is_free[here] = np.isfinite(frames)[np.reshape(index, (-1, 3))].any(axis=1) | np.isfinite(divider.tear_stress)
    return cut, tear, is_free


def _pieces(
    positions: np.ndarray, faces: CellFaces, is_free: np.ndarray, solid: np.ndarray, key: np.ndarray
) -> tuple[Pieces, int]:
    """Return the pieces, and the number of slivers among them that were joined to others.

    ``is_free`` (t,): True for faces at which a seam may come apart.
    """
    component = edge_components(faces)
    corners = positions[faces.triangles]
    areas = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    volumes = component_volumes(positions, faces, component)
    pieces = Pieces(component, volumes, opposite_faces(faces), areas, is_free)
    pieces.join_overlapping(positions, faces, solid, key)
    pieces.join_glued()
    return pieces, pieces.join_slivers(SLIVER * float(volumes.sum()))
