"""Sizing field: the wanted cell size at any point, for surfaces that are painted finer in parts.

The unit of length is the side of an unrefined cell. Below painted surface the first layer of cells has the painted
size. From there inwards the size grows by ``GRADING`` times the distance, up to the size 1 of an unrefined cell. For
external meshers the field is sampled on a background mesh of tets.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple, TypeGuard

import numpy as np
from scipy.spatial import cKDTree

from ...foundation.errors import MeshError
from ..mesh.surface_mesh import SurfaceMesh
from ..mesh.surface_samples import sample_surface
from .bisection import bisect

GRADING = 0.5
LEVELS = 16
"""Number of steps to which the paint, 0 to 1, is rounded down."""
SPACING = 0.25
"""Distance, in cells, between the points on the surface at which the painted refinement is sampled."""
COARSEST = 2.0
"""Side, in cells, of the cubes into which the background mesh is divided before it is refined."""
MARGIN = 1.0
"""Margin of the background mesh around the surface, in cells."""


class SizingField:
    """Wanted side of cells at any point, as a fraction of an unrefined cell's side.

    Parameters
    ----------
    positions : (k,3), in cells, dense samples of the painted part of a surface
    paint : (k,), 0 to 1, at these positions
    finest : factor by which cells are smaller where the paint is 1
    """

    def __init__(self, positions: np.ndarray, paint: np.ndarray, finest: float) -> None:
        levels = np.floor(np.clip(paint, 0.0, 1.0) * LEVELS).astype(np.int64)
        self._trees = [
            (finest ** (-level / LEVELS), cKDTree(positions[levels == level]))
            for level in np.unique(levels)
            if level > 0
        ]
        self.least = min((size for size, _ in self._trees), default=1.0)

    @classmethod
    def on(cls, surface: SurfaceMesh, fineness: np.ndarray, finest: float) -> SizingField:
        """Return the sizing field of a surface in units of cells.

        ``fineness`` (n,), 0 to 1: painted refinement at the vertices.
        ``finest``: factor by which cells are smaller where ``fineness`` is 1.
        """
        painted = surface.triangles[(fineness[surface.triangles] > 0.0).any(axis=1)]
        samples = sample_surface(surface.positions, painted, SPACING)
        paint = samples.interpolate(np.clip(fineness, 0.0, 1.0)[:, None], painted)[:, 0]
        return cls(samples.interpolate(surface.positions, painted), paint, finest)

    def at(self, points: np.ndarray) -> np.ndarray:
        """Return the wanted sides of cells at points, (n,), as fractions of an unrefined cell's side.

        ``points`` (n,3), in cells.
        """
        wanted = np.ones(len(points))
        for size, tree in self._trees:
            distance, _ = tree.query(points, distance_upper_bound=size + (1.0 - size) / GRADING)
            wanted = np.minimum(wanted, size + GRADING * np.maximum(distance - size, 0.0))
        return wanted


def is_finer(fineness: np.ndarray | None, finest: float) -> TypeGuard[np.ndarray]:
    """Return True if painted refinement makes cells smaller anywhere.

    ``fineness`` (n,), 0 to 1, or None: painted refinement per vertex.
    ``finest``: factor by which cells are smaller where ``fineness`` is 1.
    """
    return fineness is not None and finest > 1.0 and bool(fineness.any())


class BackgroundMesh(NamedTuple):
    """Tet mesh of a box, with wanted sizes at its vertices.

    In a tet the wanted size varies linearly.

    Attributes
    ----------
    points : (n,3)
    tets : (m,4), vertex indices
    sizes : (n,), wanted sizes at the vertices
    """

    points: np.ndarray
    tets: np.ndarray
    sizes: np.ndarray


def background_mesh(surface: SurfaceMesh, fineness: np.ndarray, finest: float, most: int) -> BackgroundMesh:
    """Return a background mesh around a surface in units of cells.

    The tets are about as large as the wanted cells.

    ``fineness`` (n,), 0 to 1: painted refinement at the surface's vertices.
    ``finest``: factor by which cells are smaller where ``fineness`` is 1.

    Raises MeshError if there would be more than ``most`` tets.
    """
    wanted = SizingField.on(surface, fineness, finest)
    used = surface.positions[surface.triangles.ravel()]
    low, high = used.min(axis=0) - MARGIN, used.max(axis=0) + MARGIN
    points, tets = cubes(np.ceil((high - low) / COARSEST).astype(np.int64))
    points *= COARSEST

    def too_large(corners: np.ndarray) -> np.ndarray:
        refuse_too_many(len(corners), most)
        e = corners[:, 1:] - corners[:, :1]
        volumes = np.abs(np.einsum("ni,ni->n", e[:, 0], np.cross(e[:, 1], e[:, 2]))) / 6.0
        large = 6.0 * volumes > wanted.least**3  # there are six tets in a cube
        large[large] = 6.0 * volumes[large] > wanted.at(corners[large].mean(axis=1) + low) ** 3
        return large

    points, tets, _ = bisect(points, tets, too_large, np.zeros(len(points), dtype=bool))
    points = points + low
    return BackgroundMesh(points, tets.astype(np.int32), wanted.at(points))


def refuse_too_many(count: int, most: int) -> None:
    """Raise MeshError if a number of tets exceeds ``most``."""
    if count > most:
        raise MeshError(
            f"Painted refinement makes more than {most / 1e6:.0f} million tetrahedra.",
            "Lower Refine Factor or Cells Across, or paint a smaller area.",
        )


def cubes(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the points (n,3) and tets (6 m,4) of a box of m unit cubes.

    Each cube has six tets around its diagonal. All diagonals are parallel [Kuhn 1960].

    ``counts`` (3,): numbers of cubes along the axes.
    """
    index = np.arange(np.prod(counts + 1)).reshape(counts + 1)
    points = np.stack(np.meshgrid(*(np.arange(n + 1.0) for n in counts), indexing="ij"), axis=-1)
    cubes = np.stack(np.meshgrid(*(np.arange(n) for n in counts), indexing="ij"), axis=-1).reshape(-1, 1, 3)
    tets = []
    for axes in itertools.permutations(range(3)):
        steps = np.vstack([np.zeros((1, 3), dtype=np.int64), np.cumsum(np.eye(3, dtype=np.int64)[list(axes)], axis=0)])
        tets.append(index[tuple(np.moveaxis(cubes + steps, -1, 0))])
    return points.reshape(-1, 3), np.concatenate(tets)
