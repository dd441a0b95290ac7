"""Sample points on triangles, at most a given spacing apart.

Samples lie in rows parallel to a triangle's longest side. The distance between rows, and between samples in a row, is
at most ``spacing``. Both ends of a row are samples, so samples lie exactly on the triangle's corners and sides.

Limit: all samples of a triangle represent equal shares of its area, including the samples on its corners and sides. So
the area near the boundary of a set of faces is overestimated.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...foundation.errors import MeshError
from ...foundation.kernels.jit import kernel
from .surface_mesh import SurfaceMesh
from .tie_breaking import subdivision_counts

DEGENERATE = 1e-12
"""Ratio of twice the area to the squared longest side up to which a triangle is ignored.

The normal of such a triangle is round-off.
"""


class SurfaceSamples(NamedTuple):
    """Sample points on a surface.

    Attributes
    ----------
    triangle : (s,) int32
        Index of the triangle on which each sample lies.
    barycentric : (s, 3) float64
        Barycentric weights of that triangle's corners.
    area : (s,) float64
        Area of the surface that each sample represents.
    """

    triangle: np.ndarray
    barycentric: np.ndarray
    area: np.ndarray

    def interpolate(self, values: np.ndarray, triangles: np.ndarray) -> np.ndarray:
        """Return values at the vertices of triangles interpolated to the samples, (s,k).

        ``values`` (n,k): at the vertices.
        ``triangles`` (t,3): vertex indices.
        """
        return np.einsum("sc,sck->sk", self.barycentric, values[triangles[self.triangle]])


def proper_triangles(positions: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Return the indices (k,) int64 of the triangles with an area.

    ``positions`` (n,3): of the vertices.
    ``triangles`` (t,3): vertex indices.
    """
    a, b, c = (positions[triangles[:, k]] for k in range(3))
    doubled = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    longest2 = np.max([((b - a) ** 2).sum(1), ((c - b) ** 2).sum(1), ((a - c) ** 2).sum(1)], axis=0, initial=0.0)
    return np.flatnonzero(doubled > DEGENERATE * longest2)


def proper_faces(surface: SurfaceMesh) -> np.ndarray:
    """Return the triangles of a surface with an area, (t,3).

    The result is cached in the surface.
    """
    if "proper faces" not in surface.found:
        proper = proper_triangles(surface.positions, surface.triangles)
        all_are = len(proper) == len(surface.triangles)
        surface.found["proper faces"] = surface.triangles if all_are else surface.triangles[proper]
    return surface.found["proper faces"]


def faces_with_area(surface: SurfaceMesh) -> np.ndarray:
    """Return the triangles of a surface with an area, (t,3).

    Raises MeshError if no triangle has an area.
    """
    triangles = proper_faces(surface)
    if len(triangles) == 0:
        raise MeshError(
            "All faces of the mesh are collapsed.", "Give the faces some area, or merge vertices by distance."
        )
    return triangles


def sample_surface(positions: np.ndarray, triangles: np.ndarray, spacing: float) -> SurfaceSamples:
    """Return sample points on triangles.

    Rows of samples, and samples in a row, are at most ``spacing`` apart. Corners and sides are sampled, too. The number
    of samples depends on a triangle's area and perimeter, so slivers need few. Triangles without area have none.

    ``positions`` (n,3): of the vertices.
    ``triangles`` (t,3): vertex indices.
    """
    proper = proper_triangles(positions, triangles)
    corners = positions[triangles[proper]]
    sides = np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=2)
    first, longest = sides.argmax(axis=1), sides.max(axis=1)
    doubled = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    rows, columns = subdivision_counts(doubled / longest, spacing), subdivision_counts(longest, spacing)
    triangle, barycentric, area = _sample(first, rows, columns, 0.5 * doubled)
    return SurfaceSamples(proper[triangle].astype(np.int32), barycentric, area)


@kernel
def _sample(first, rows, columns, areas):
    """Return the fields of :class:`SurfaceSamples` for triangles with ``areas`` (f,).

    Triangle i has ``rows[i] + 1`` rows of samples. Row 0 lies on the longest side, which starts at corner ``first[i]``.
    """
    count = 0
    for f in range(len(first)):
        for r in range(rows[f] + 1):
            count += int(np.ceil(columns[f] * (rows[f] - r) / rows[f])) + 1
    triangle = np.empty(count, dtype=np.int32)
    barycentric = np.zeros((count, 3))
    area = np.empty(count)
    s = 0
    for f in range(len(first)):
        begin = s
        for r in range(rows[f] + 1):
            steps = int(np.ceil(columns[f] * (rows[f] - r) / rows[f]))
            apex = r / rows[f]
            for c in range(steps + 1):
                along = c / steps if steps > 0 else 0.0
                triangle[s] = f
                barycentric[s, first[f]] = (1.0 - apex) * (1.0 - along)
                barycentric[s, (first[f] + 1) % 3] = (1.0 - apex) * along
                barycentric[s, (first[f] + 2) % 3] = apex
                s += 1
        for k in range(begin, s):
            area[k] = areas[f] / (s - begin)
    return triangle, barycentric, area
