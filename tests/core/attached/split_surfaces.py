"""Surfaces that planes split into pieces."""

from __future__ import annotations

import numpy as np
import pytest
import sinew as sw


def split_by_planes(
    surface: sw.Surface, *planes: tuple[tuple[float, float, float], float], **at_seams: float
) -> tuple[sw.Surface, sw.Seams]:
    """Split a closed surface by planes ``normal . x = offset``; cut frame and tear stress as given, at all seams."""
    manifold3d = pytest.importorskip("manifold3d")
    mesh = manifold3d.Mesh64(surface.positions, surface.triangles.astype(np.uint64))
    parts = [manifold3d.Manifold(mesh)]
    for normal, offset in planes:
        length = np.linalg.norm(normal)
        parts = [half for part in parts for half in part.split_by_plane(normal, offset / length)]
        parts = [piece for half in parts for piece in half.decompose()]
    positions, triangles, pieces, first = [], [], [], 0
    for piece, part in enumerate(parts):
        mesh = part.to_mesh64()
        positions.append(np.asarray(mesh.vert_properties)[:, :3])
        triangles.append(np.asarray(mesh.tri_verts).astype(np.int64) + first)
        pieces.append(np.full(len(positions[-1]), piece))
        first += len(positions[-1])
    X, T, is_seam = np.concatenate(positions), np.concatenate(triangles), np.zeros(sum(map(len, triangles)), dtype=bool)
    for normal, offset in planes:
        is_seam |= (np.abs(X[T] @ np.asarray(normal) - offset) < 1e-9).all(axis=1)
    on_seam = np.isin(np.arange(len(X)), T[is_seam])
    values = {name: np.where(on_seam, value, np.inf) for name, value in at_seams.items()}
    return sw.Surface(X, T), sw.Seams(np.concatenate(pieces), is_seam, **values)
