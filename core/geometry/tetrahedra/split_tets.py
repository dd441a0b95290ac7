"""Split of a tet mesh into pieces, by copies of the tets that several pieces overlap.

Each piece gets copies of its own of the tets that it overlaps, and of their vertices (virtual nodes: Molino, Bao and
Fedkiw, "A virtual node algorithm for changing mesh topology during simulation", ACM TOG 23, 2004). A copy is filled to
the share of its piece. So no tet is cut, however thin a piece is there, and the copies of a tet have its mass together.
Tets of a smoothing domain are copied together, so that elements of pieces have the strain of the whole element.
"""

from __future__ import annotations

import numpy as np

from ..mesh.nearest_point import NearestPointSearch
from ..mesh.surface_mesh import SurfaceMesh
from ..mesh.tet_mesh import LEAST_STIFFNESS, Split, TetMesh
from ..mesh.winding_number import WindingNumber
from .cut_cell_volume import volume_fractions

TOUCHING = 1e-6
"""Share of a group of tets up to which a piece does not overlap the group, but touches it."""

LEAST = 1.1 * LEAST_STIFFNESS
"""Least share of a copy in its tet, before the shares of a tet are scaled to the sum 1.

So no vertex of a copy is almost without mass and stiffness.
"""


def split_tets(mesh: TetMesh, surface: SurfaceMesh, pieces: np.ndarray, group: np.ndarray) -> TetMesh:
    """Return a mesh with a copy of each tet for each piece of the body that overlaps the tet's group.

    Parameters
    ----------
    mesh : mesh of the whole body
    surface : closed pieces of the body that share no vertex
    pieces : (n,) piece of each vertex of the surface
    group : (m,) index of a group of tets that are copied together, from 0 on
    """
    tet, piece, volume = _overlaps(mesh, surface, pieces)
    count = int(pieces.max()) + 1
    shares = np.zeros(len(tet))
    total = np.bincount(tet, volume, minlength=len(mesh.tets))
    np.divide(volume, total[tet], out=shares, where=total[tet] > 0.0)
    keys, index = np.unique(group[tet].astype(np.int64) * count + piece, return_inverse=True)
    of, own = keys // count, keys % count
    body = mesh.body_volumes
    part = np.bincount(index, shares * body[tet]) / np.bincount(group, body)[of]
    most = np.zeros(int(group.max()) + 1)
    np.maximum.at(most, of, part)
    chosen = np.flatnonzero((part > TOUCHING) | (part == most[of]))
    members = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[members], np.arange(len(most) + 1))
    sizes = np.diff(starts)[of[chosen]]
    row = np.repeat(chosen, sizes)
    origins = members[np.repeat(starts[of[chosen]] - np.cumsum(sizes) + sizes, sizes) + np.arange(len(row))]
    order = np.lexsort((origins, own[row]))
    row, origins = row[order], origins[order]
    found, copies = tet * count + piece, origins * count + own[row]
    sorting = np.argsort(found)
    at = sorting[np.minimum(np.searchsorted(found[sorting], copies), len(found) - 1)]
    share = np.maximum(np.where(found[at] == copies, shares[at], 0.0), LEAST)
    share /= np.bincount(origins, share)[origins]
    fill = mesh.fill[origins] * share
    n = len(mesh.rest_positions)
    vertices, tets = np.unique(own[row][:, None] * n + mesh.tets[origins], return_inverse=True)
    parents = vertices % n
    split = Split(origins.astype(np.int64), parents, vertices // n)
    return TetMesh(mesh.rest_positions[parents], tets.reshape(-1, 4), fill, mesh.middle[origins], split)


def _overlaps(mesh: TetMesh, surface: SurfaceMesh, pieces: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the tet (k,) and the piece (k,) of each overlap, with its volume as a fraction (k,) of the tet.

    A tet that no piece overlaps belongs to the nearest piece.
    """
    low = surface.positions[surface.used].min(axis=0)
    X, corners = (surface.positions - low) / surface.size, ((mesh.rest_positions - low) / surface.size)[mesh.tets]
    lowest, highest = corners.min(axis=1), corners.max(axis=1)
    faces, found = pieces[surface.triangles[:, 0]], []
    for piece in range(int(pieces.max()) + 1):
        own = surface.triangles[faces == piece]
        near = (lowest <= X[own].max(axis=(0, 1))) & (highest >= X[own].min(axis=(0, 1)))
        near = np.flatnonzero(near.all(axis=1))
        inside = volume_fractions(corners[near], WindingNumber(X, own)).fill
        near, inside = near[inside > 0.0], inside[inside > 0.0]
        found.append((near, np.full(len(near), piece), inside))
    tet, piece, volume = (np.concatenate(each) for each in zip(*found))
    outside = np.setdiff1d(np.arange(len(mesh.tets)), tet)
    nearest = NearestPointSearch(X, surface.triangles).nearest(corners[outside].mean(axis=1)).triangles
    return (
        np.concatenate([tet, outside]),
        np.concatenate([piece, faces[nearest]]),
        np.concatenate([volume, np.ones(len(outside))]),
    )
