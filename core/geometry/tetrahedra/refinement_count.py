"""Cheap estimate of the tetrahedra that painted refinement adds, from sample points spread over the surface.

The wanted size is ``s`` at the surface. Below a first layer of such cells it grows by ``GRADING`` of the distance,
until it is one cell. A column of unit area and depth ``D`` then has as many tets as one of unpainted cells of the depth
``integral 1 / size³``. Each sample point has the mean depth of the body: volume over area.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..mesh.surface_mesh import SurfaceMesh
from .sizing_field import GRADING, SizingField

SAMPLE_COUNT = 3000
_TURNS = np.array([0.7548776662466927, 0.5698402909980532])
"""Steps of a sequence that fills the unit square evenly [Roberts 2018]."""


@dataclass(frozen=True, eq=False)
class RefinementSamples:
    """Sample points of equal area on a surface: triangles (k,), ``barycentric`` weights (k,3), positions (k,3), and
    paint (k,), 0 to 1.
    """

    triangles: np.ndarray
    barycentric: np.ndarray
    positions: np.ndarray
    paint: np.ndarray

    def painted(self, surface: SurfaceMesh, fineness: np.ndarray) -> RefinementSamples:
        """Return these points with the paint ``fineness`` (n,) of the surface's vertices interpolated to them."""
        paint = np.einsum("kc,kc->k", self.barycentric, fineness[surface.triangles[self.triangles]])
        return RefinementSamples(self.triangles, self.barycentric, self.positions, np.clip(paint, 0.0, 1.0))


def places_on(surface: SurfaceMesh) -> RefinementSamples | None:
    """Return ``SAMPLE_COUNT`` unpainted sample points, or None if the surface has no area."""
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
    """Return the mean extra depth below a sample point, in cells, and the mean number of surface cells per unpainted
    one.

    ``cell`` and ``depth`` are in the unit of the positions.
    """
    positions = samples.positions / cell
    s = SizingField(positions, samples.paint, finest).at(positions)
    first = np.minimum(s, depth / cell)
    rest = depth / cell - first
    graded = np.minimum(rest, (1.0 - s) / GRADING)
    # The integrals of 1/s³ over the first layer, of 1/(s + g d)³ below it, less those of 1.
    below = (s**-2.0 - (s + GRADING * graded) ** -2.0) / (2.0 * GRADING)
    more = first * (s**-3.0 - 1.0) + below - graded
    return float(more.mean()), float((s**-2.0).mean())
