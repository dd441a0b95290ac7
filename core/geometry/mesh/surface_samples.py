"""Samples spread over triangles, dense enough to hit every cell of a certain size.

Rows run parallel to a triangle's longest side, at most ``spacing`` apart, with points at most as far apart in each,
ends included. A row has one point more than steps, so samples hit corners and sides exactly.

Trap: each sample of a triangle represents an equal part of its area, also at its corners. Near the rim of a set of
faces this overestimates areas.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...foundation.errors import MeshError
from ...foundation.kernels.jit import kernel
from .surface_mesh import SurfaceMesh
from .tie_breaking import subdivision_counts

DEGENERATE = 1e-12
"""A triangle whose doubled area is not over this part of its longest side squared is ignored: its normal is noise."""


class SurfaceSamples(NamedTuple):
    """Samples of a surface.

    Attributes
    ----------
    triangle : (s,) int32
    barycentric : (s, 3) float64
    area : (s,) float64
        Area of the surface that the sample represents.
    """

    triangle: np.ndarray
    barycentric: np.ndarray
    area: np.ndarray

    def interpolate(self, values: np.ndarray, triangles: np.ndarray) -> np.ndarray:
        """Interpolate vertex values (n, k) to the samples, (s, k)."""
        return np.einsum("sc,sck->sk", self.barycentric, values[triangles[self.triangle]])


def proper_triangles(positions: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Return the indices of the triangles that have an area, (t',) int64."""
    a, b, c = (positions[triangles[:, k]] for k in range(3))
    doubled = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    longest2 = np.max([((b - a) ** 2).sum(1), ((c - b) ** 2).sum(1), ((a - c) ** 2).sum(1)], axis=0, initial=0.0)
    return np.flatnonzero(doubled > DEGENERATE * longest2)


def proper_faces(surface: SurfaceMesh) -> np.ndarray:
    """Return the triangles (t,3) of a surface that have an area, computed once."""
    if "proper faces" not in surface.found:
        proper = proper_triangles(surface.positions, surface.triangles)
        all_are = len(proper) == len(surface.triangles)
        surface.found["proper faces"] = surface.triangles if all_are else surface.triangles[proper]
    return surface.found["proper faces"]


def faces_with_area(surface: SurfaceMesh) -> np.ndarray:
    """Return :func:`proper_faces`; raise MeshError if none has an area."""
    triangles = proper_faces(surface)
    if len(triangles) == 0:
        raise MeshError(
            "All faces of the mesh are collapsed.", "Give the faces some area, or merge vertices by distance."
        )
    return triangles


def sample_surface(positions: np.ndarray, triangles: np.ndarray, spacing: float) -> SurfaceSamples:
    """Sample triangles in rows at most ``spacing`` apart, with the same spacing along each row, corners included.

    The number of samples follows area and perimeter, so slivers are cheap. Triangles without area have none.
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
    """Write rows parallel to each triangle's longest side, shorter towards the apex; counted first, then written."""
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
