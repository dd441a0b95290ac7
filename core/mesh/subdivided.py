"""Faces split until none is large."""

from __future__ import annotations

import numpy as np

from .surface_mesh import SurfaceMesh
from .surface_samples import proper_triangles


def subdivided(surface: SurfaceMesh, longest: float) -> SurfaceMesh:
    """The faces with area of a surface, each with a side over ``longest`` m split in four by the middles of its sides
    until there is none, and the vertices that these have. Where a split face and a whole one share a side, its middle
    lies on it and is a corner of the one alone.
    """
    points, faces = surface.positions, surface.triangles[proper_triangles(surface.positions, surface.triangles)]
    while True:
        corners = points[faces]
        long = (np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2) > longest).any(axis=1)
        if not long.any():
            break
        split = faces[long]
        sides = np.sort(split[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
        ends, number = np.unique(sides, axis=0, return_inverse=True)
        ab, bc, ca = (number.reshape(-1, 3) + len(points)).T
        points, (a, b, c) = np.concatenate([points, points[ends].mean(axis=1)]), split.T
        four = [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
        faces = np.concatenate([faces[~long], *(np.column_stack(each) for each in four)])
    used, numbered = np.unique(faces, return_inverse=True)
    return SurfaceMesh(points[used], numbered.reshape(-1, 3))
