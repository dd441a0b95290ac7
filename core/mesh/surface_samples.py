"""Points spread over triangles, close enough together that no cell of a given size is stepped over."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..jit import kernel

DEGENERATE = 1e-12
"""A triangle whose doubled area is not over this part of its longest side squared is ignored: its normal is noise."""


class SurfaceSamples(NamedTuple):
    """Samples of a surface.

    Attributes
    ----------
    triangle : (s,) int32
    barycentric : (s, 3) float64
    area : (s,) float64
        Area of the surface that the sample stands for.
    """

    triangle: np.ndarray
    barycentric: np.ndarray
    area: np.ndarray

    def interpolate(self, values: np.ndarray, triangles: np.ndarray) -> np.ndarray:
        """Vertex values (n, k) at the samples, (s, k)."""
        return np.einsum("sc,sck->sk", self.barycentric, values[triangles[self.triangle]])


def proper_triangles(positions: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Indices of the triangles that have an area, (t',) int64."""
    a, b, c = (positions[triangles[:, k]] for k in range(3))
    doubled = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    longest2 = np.max([((b - a) ** 2).sum(1), ((c - b) ** 2).sum(1), ((a - c) ** 2).sum(1)], axis=0, initial=0.0)
    return np.flatnonzero(doubled > DEGENERATE * longest2)


def sample_surface(positions: np.ndarray, triangles: np.ndarray, spacing: float) -> SurfaceSamples:
    """Samples in rows at most ``spacing`` apart, and so apart along each row, corners of every triangle included.

    The number of samples follows area and perimeter, so that slivers are cheap. Triangles without area have none.
    """
    proper = proper_triangles(positions, triangles)
    corners = np.ascontiguousarray(positions[triangles[proper]])
    triangle, barycentric, area = _sample(corners, spacing)
    return SurfaceSamples(proper[triangle].astype(np.int32), barycentric, area)


@kernel
def _rows_and_columns(t, spacing):
    """Longest side's first corner, rows towards the apex, steps along the longest side, doubled area."""
    longest, first = -1.0, 0
    for c in range(3):
        side = 0.0
        for i in range(3):
            side += (t[(c + 1) % 3, i] - t[c, i]) ** 2
        if side > longest:
            longest, first = side, c
    longest = np.sqrt(longest)
    n = np.cross(t[1] - t[0], t[2] - t[0])
    doubled = np.sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2])
    rows = int(np.ceil(doubled / longest / spacing))
    columns = int(np.ceil(longest / spacing))
    return first, max(rows, 1), max(columns, 1), doubled


@kernel
def _sample(corners, spacing):
    """Rows parallel to each triangle's longest side; the first pass counts, the second writes."""
    count = 0
    for f in range(len(corners)):
        _first, rows, columns, _doubled = _rows_and_columns(corners[f], spacing)
        for r in range(rows + 1):
            count += int(np.ceil(columns * (rows - r) / rows)) + 1
    triangle = np.empty(count, dtype=np.int32)
    barycentric = np.zeros((count, 3))
    area = np.empty(count)
    s = 0
    for f in range(len(corners)):
        first, rows, columns, doubled = _rows_and_columns(corners[f], spacing)
        begin = s
        for r in range(rows + 1):
            steps = int(np.ceil(columns * (rows - r) / rows))
            apex = r / rows
            for c in range(steps + 1):
                along = c / steps if steps > 0 else 0.0
                triangle[s] = f
                barycentric[s, first] = (1.0 - apex) * (1.0 - along)
                barycentric[s, (first + 1) % 3] = (1.0 - apex) * along
                barycentric[s, (first + 2) % 3] = apex
                s += 1
        for k in range(begin, s):
            area[k] = 0.5 * doubled / (s - begin)
    return triangle, barycentric, area
