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

SLIVER = LEAST_STIFFNESS
"""Least share of a piece in a group of tets that are copied together. The largest piece gets smaller shares."""

LENT = 0.01
"""Part of the mass of a group's tets that each piece has by its share in the group, instead of its share in each tet.

Every copy has some mass then, even of a tet that its piece does not overlap.
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
    kept, largest = _kept(of, own, part)
    # Shares of slivers go to the largest piece of the group.
    index = np.where(kept, np.arange(len(keys)), largest)[index]
    part = np.bincount(np.where(kept, np.arange(len(keys)), largest), part, minlength=len(keys))
    members = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[members], np.arange(int(group.max()) + 2))
    chosen = np.flatnonzero(kept)
    sizes = np.diff(starts)[of[chosen]]
    row = np.repeat(chosen, sizes)
    origins = members[np.repeat(starts[of[chosen]] - np.cumsum(sizes) + sizes, sizes) + np.arange(len(row))]
    copies = origins * count + own[row]
    order = np.lexsort((origins, own[row]))
    row, origins, copies = row[order], origins[order], copies[order]
    of_copy = np.zeros(len(row))
    place = np.argsort(copies)
    np.add.at(of_copy, place[np.searchsorted(copies[place], tet * count + own[index])], shares)
    fill = mesh.fill[origins] * ((1.0 - LENT) * of_copy + LENT * part[row])
    n = len(mesh.rest_positions)
    vertices, tets = np.unique(own[row][:, None] * n + mesh.tets[origins], return_inverse=True)
    parents = vertices % n
    split = Split(origins.astype(np.int64), parents, vertices // n)
    return TetMesh(mesh.rest_positions[parents], tets.reshape(-1, 4), fill, mesh.middle[origins], split)


def _kept(of: np.ndarray, own: np.ndarray, part: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mask (k,) of the pieces ``own`` that have copies of the groups ``of``, and the row of the largest.

    ``part`` (k,): share of the piece in the group. The largest piece of a group has copies, and so has a piece in the
    group where its share is largest.
    """
    by_share = np.argsort(part, kind="stable")
    most, best = np.empty(int(of.max()) + 1, dtype=np.int64), np.empty(int(own.max()) + 1, dtype=np.int64)
    most[of[by_share]], best[own[by_share]] = by_share, by_share
    kept = part >= SLIVER
    kept[most[np.unique(of)]] = True
    kept[best[np.unique(own)]] = True
    return kept, most[of]


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
