"""Estimate of the number of tetrahedra that painted refinement adds, from sample points on the surface.

The unit of length is the side of an unrefined cell. At the surface is a first layer of cells of the painted size ``s``.
Below that layer the size grows by ``GRADING`` times the distance, up to 1. Consider a column of unit area from the
surface down to the depth ``D``. Refinement multiplies the number of tets at each depth by ``1 / size³``. So the column
has as many tets as an unrefined column of depth ``integral from 0 to D of 1 / size³``. At every sample point, ``D`` is
the mean depth of the body: volume over area.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..mesh.surface_mesh import SurfaceMesh
from .sizing_field import GRADING, SizingField

SAMPLE_COUNT = 3000
_TURNS = np.array([0.7548776662466927, 0.5698402909980532])
"""Increments of a low-discrepancy sequence in the unit square [Roberts 2018]."""


@dataclass(frozen=True, eq=False)
class RefinementSamples:
    """Sample points on a surface that represent equal areas.

    Attributes
    ----------
    triangles : (k,) indices of the triangles on which the samples lie
    barycentric : (k,3) weights of the triangles' corners
    positions : (k,3)
    paint : (k,) painted refinement, 0 to 1
    """

    triangles: np.ndarray
    barycentric: np.ndarray
    positions: np.ndarray
    paint: np.ndarray

    def painted(self, surface: SurfaceMesh, fineness: np.ndarray) -> RefinementSamples:
        """Return the same sample points with a new paint.

        ``fineness`` (n,), 0 to 1: painted refinement at the vertices of ``surface``, which is interpolated to the
        samples.
        """
        paint = np.einsum("kc,kc->k", self.barycentric, fineness[surface.triangles[self.triangles]])
        return RefinementSamples(self.triangles, self.barycentric, self.positions, np.clip(paint, 0.0, 1.0))


def sample_points(surface: SurfaceMesh) -> RefinementSamples | None:
    """Return ``SAMPLE_COUNT`` sample points on a surface, or None if the surface has no area.

    Their paint is 0.
    """
    a, b, c = (surface.positions[surface.triangles[:, k]] for k in range(3))
    sums = np.cumsum(np.linalg.norm(np.cross(b - a, c - a), axis=1))
    if len(sums) == 0 or not sums[-1] > 0.0:
        return None
    number = np.arange(SAMPLE_COUNT)
    triangles = np.searchsorted(sums, sums[-1] * (number + 0.5) / SAMPLE_COUNT, side="right")
    u, v = (_TURNS[:, None] * (number + 1)) % 1.0
    u, v = np.where(u + v > 1.0, 1.0 - u, u), np.where(u + v > 1.0, 1.0 - v, v)
    weights = np.column_stack([1.0 - u - v, u, v])
    positions = np.einsum("kc,kci->ki", weights, surface.positions[surface.triangles[triangles]])
    return RefinementSamples(triangles, weights, positions, np.zeros(SAMPLE_COUNT))


@lru_cache(maxsize=16)
def refined_fractions(samples: RefinementSamples, cell: float, finest: float, depth: float) -> tuple[float, float]:
    """Return two numbers for the estimate of the tets that painted refinement adds.

    Both are means over the sample points:

    - for the tets below the surface: the number of tets that refinement adds below the area of one cell face, divided
      by the number of tets in an unrefined cell;
    - for the tets that the surface cuts: the number of refined cells at the surface that replace one unrefined cell.

    ``cell``: side of an unrefined cell, in the unit of the positions.
    ``finest``: factor by which cells are smaller where the paint is 1.
    ``depth``: mean depth of the body, in the unit of the positions.
    """
    positions = samples.positions / cell
    s = SizingField(positions, samples.paint, finest).at(positions)
    first = np.minimum(s, depth / cell)
    rest = depth / cell - first
    graded = np.minimum(rest, (1.0 - s) / GRADING)
    # Integrals over the depth of 1/s³ - 1 in the first layer, and of 1/(s + g d)³ - 1 below it.
    below = (s**-2.0 - (s + GRADING * graded) ** -2.0) / (2.0 * GRADING)
    more = first * (s**-3.0 - 1.0) + below - graded
    return float(more.mean()), float((s**-2.0).mean())
