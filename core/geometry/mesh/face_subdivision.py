"""Subdivision of faces until no side exceeds a length."""

from __future__ import annotations

import numpy as np

from .surface_mesh import SurfaceMesh
from .surface_samples import proper_triangles


def subdivide_faces(surface: SurfaceMesh, longest: float) -> SurfaceMesh:
    """Return a surface with faces bisected until no side is too long.

    Faces are bisected at their longest sides. Faces without area are dropped, and so are vertices that belong to no
    face with an area. If only one of two adjacent faces is split at their common side, the new vertex is a hanging
    vertex of the other face.

    ``longest``, m: largest side length.
    """
    points, faces = surface.positions, surface.triangles[proper_triangles(surface.positions, surface.triangles)]
    while True:
        corners = points[faces]
        sides = np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=2)
        long = sides.max(axis=1) > longest
        if not long.any():
            break
        # Rotate the corners so that the longest side runs from a to b.
        turn = (sides[long].argmax(axis=1)[:, None] + np.arange(3)) % 3
        a, b, c = np.take_along_axis(faces[long], turn, axis=1).T
        ends, number = np.unique(np.sort(np.column_stack([a, b]), axis=1), axis=0, return_inverse=True)
        middle = number.ravel() + len(points)
        points = np.concatenate([points, points[ends].mean(axis=1)])
        faces = np.concatenate([faces[~long], np.column_stack([a, middle, c]), np.column_stack([middle, b, c])])
    used, numbered = np.unique(faces, return_inverse=True)
    return SurfaceMesh(points[used], numbered.reshape(-1, 3))
