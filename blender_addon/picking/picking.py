"""Picking of surface vertices under the cursor or in a box of a 3D View, by NumPy.

In homogeneous pixels a corner is c = (X, Y, W), at (X / W, Y / W) in the region. A pixel p = (x, y, 1) is a combination
``p = sum_k l_k c_k`` of a triangle's corners. The pixel lies in the triangle, in front of the viewer, if no l_k is
negative (Olano and Greer 1997, "Triangle scan conversion using 2D homogeneous coordinates"). This holds with and
without perspective. Corners behind the viewer need no clipping. Depth, -1 at the near plane and 1 at the far plane, is
interpolated with the same l_k.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

SKIN = 1e-5
"""Depth by which a vertex may lie behind a triangle and still be visible, as a fraction of the surface's size."""

SEAM = 1e-7
"""Fraction of its size by which each triangle is enlarged, so that no ray passes between neighbours."""

MOST_CELLS, MOST_ENTRIES, CHUNK = 256, 4_000_000, 500_000
"""Limits of the search: cells per axis of a grid, entries of triangles in the grid's cells, and pairs tested at a time.
"""


Pixel = Sequence[float]
"""Position in a region, pixels."""


class Viewport(NamedTuple):
    """Region of a 3D View, ``width`` by ``height`` pixels.

    ``matrix`` (4,4) maps world positions (x, y, z, 1), m, to (X, Y, Z, W). The pixel is (X / W, Y / W). The depth is Z
    / W.
    """

    matrix: np.ndarray
    width: float
    height: float

    def project(self, points: np.ndarray) -> np.ndarray:
        """Return the homogeneous coordinates (X, Y, Z, W) of points in the world.

        ``points`` (n,3), m. Result (n,4): the pixel of a point is (X / W, Y / W), the depth Z / W.
        """
        return points @ self.matrix[:, :3].T + self.matrix[:, 3]

    @property
    def forward(self) -> np.ndarray:
        """View direction: unit vector (3,) along which depth grows."""
        return self.matrix[2, :3] / np.linalg.norm(self.matrix[2, :3])


class Hit(NamedTuple):
    """Intersection of a ray with a surface: index of the triangle, and position (3,), m."""

    triangle: int
    position: np.ndarray


def viewport_of(region: Any, region_data: Any, metres: float = 1.0) -> Viewport:
    """Return the viewport of a region.

    ``region_data``: the region's ``RegionView3D``. ``metres``: length of a Blender unit, m.
    """
    to_clip = np.array(region_data.perspective_matrix, dtype=np.float64)
    to_clip[:, :3] /= metres
    x, y, z, w = to_clip
    rows = [0.5 * region.width * (x + w), 0.5 * region.height * (y + w), z, w]
    return Viewport(np.array(rows), float(region.width), float(region.height))


class Surface:
    """Surface in a view, for picking. Positions in the region and distances are in pixels.

    ``positions`` (n,3), m: vertices. ``triangles`` (t,3). With ``through``, as in X-Ray, hidden vertices are picked
    too.
    """

    def __init__(self, view: Viewport, positions: np.ndarray, triangles: np.ndarray, through: bool = False) -> None:
        self.view, self.positions, self.triangles, self.through = view, positions, triangles, through
        self._shown = view.project(positions)

    def first_hit(self, where: Pixel) -> Hit | None:
        """Return the nearest intersection of the ray through the pixel ``where`` with a triangle, from either side.

        Returns None if the ray hits no triangle.
        """
        mixture, depth = _mixtures(self._shown[self.triangles], np.array([[*where, 1.0]]))
        seen = _holds(mixture) & (np.abs(depth) <= 1.0)
        if not seen.any():
            return None
        triangle = int(np.flatnonzero(seen)[np.argmin(depth[seen])])
        parts = mixture[triangle] / mixture[triangle].sum()
        return Hit(triangle, parts @ self.positions[self.triangles[triangle]])

    def vertex_at(self, where: Pixel, radius: float) -> int | None:
        """Return the index of the vertex that a click at ``where`` picks, or None.

        The first choice is the nearest corner of the triangle under the cursor, the second the nearest visible vertex
        within ``radius``. In X-Ray, the nearest vertex within ``radius`` comes first, visible or not.
        """
        if self.through and (near := self._nearest(where, radius)) is not None:
            return near
        hit = self.first_hit(where)
        if hit is None:
            return None if self.through else self._nearest(where, radius)
        corners = self.triangles[hit.triangle]
        corners = corners[self._shown[corners, 3] > 0.0]
        return int(corners[np.argmin(self._away(corners, where))])

    def vertices_in_box(self, low: Pixel, high: Pixel) -> np.ndarray:
        """Return the indices (k,) of the vertices in a box between two pixels. Hidden vertices count only in X-Ray."""
        inside = np.flatnonzero(_in_view(self._shown))
        pixels = _pixels(self._shown[inside])
        inside = inside[((pixels >= low) & (pixels <= high)).all(axis=1)]
        return inside if self.through else inside[self.seen(inside)]

    def seen(self, vertices: np.ndarray) -> np.ndarray:
        """Return a mask (k,) of the vertices that are in the view and not hidden by a triangle.

        ``vertices`` (k,): indices of the vertices.
        """
        clear = _in_view(self._shown[vertices])
        tested = np.flatnonzero(clear)
        if not len(tested) or not len(self.triangles):
            return clear
        skin = SKIN * float(np.ptp(self.positions, axis=0).max())
        nearer = self.view.project(self.positions[vertices[tested]] - skin * self.view.forward)
        limit = np.where(nearer[:, 3] > 0.0, nearer[:, 2] / np.where(nearer[:, 3] > 0.0, nearer[:, 3], 1.0), -np.inf)
        pixels = _pixels(self._shown[vertices[tested]])
        low, high = _extents(self._shown[self.triangles])
        point, triangle = _pairs(pixels, low, high)
        for start in range(0, len(point), CHUNK):
            k, t = point[start : start + CHUNK], triangle[start : start + CHUNK]
            around = ((low[t] <= pixels[k]) & (pixels[k] <= high[t])).all(axis=1)
            k, t = k[around], t[around]
            others = (self.triangles[t] != vertices[tested[k]][:, None]).all(axis=1)
            k, t = k[others], t[others]
            mixture, depth = _mixtures(self._shown[self.triangles[t]], np.column_stack([pixels[k], np.ones(len(k))]))
            hides = _holds(mixture) & (depth >= -1.0) & (depth < limit[k])
            clear[tested[k[hides]]] = False
        return clear

    def _nearest(self, where: Pixel, radius: float) -> int | None:
        near = np.flatnonzero(_in_view(self._shown))
        near = near[self._away(near, where) <= radius]
        near = near if self.through else near[self.seen(near)]
        return int(near[np.argmin(self._away(near, where))]) if len(near) else None

    def _away(self, vertices: np.ndarray, where: Pixel) -> np.ndarray:
        return np.linalg.norm(_pixels(self._shown[vertices]) - where, axis=1)


def mirrored(positions: np.ndarray, axis: int = 0, tolerance: float = 1e-4) -> np.ndarray:
    """Return the index of each vertex's mirror vertex (n,).

    The mirror plane is where the coordinate ``axis`` is 0. The index is -1 if no vertex lies within ``tolerance`` times
    the surface's size of the mirrored position. A vertex on the plane mirrors itself. ``positions`` (n,3) are in object
    space.
    """
    from scipy.spatial import cKDTree  # SciPy must not delay Blender's start

    flip = np.ones(3)
    flip[axis] = -1.0
    reach = tolerance * float(np.ptp(positions, axis=0).max())
    away, opposite = cKDTree(positions).query(positions * flip)
    return np.where(away <= reach, opposite, -1)


def _in_view(shown: np.ndarray) -> np.ndarray:
    """Return a mask (n,) of the points between the near and far clipping planes."""
    return (shown[:, 3] > 0.0) & (np.abs(shown[:, 2]) <= shown[:, 3])


def _pixels(shown: np.ndarray) -> np.ndarray:
    return shown[:, :2] / shown[:, 3:]


def _mixtures(corners: np.ndarray, pixels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the coefficients l_k (t,3) and the depths (t,) of pixels in t triangles.

    The coefficients solve ``p = sum_k l_k c_k`` for the pixel p and the corners c_k. Triangles seen edge-on have NaN.
    ``corners`` (t,3,4) and ``pixels`` (t,3) or (1,3) are homogeneous.
    """
    c = corners[..., [0, 1, 3]]
    edges = np.stack([np.cross(c[:, (k + 1) % 3], c[:, (k + 2) % 3]) for k in range(3)], axis=1)
    volume = np.einsum("ti,ti->t", c[:, 0], edges[:, 0])
    with np.errstate(divide="ignore", invalid="ignore"):
        mixture = np.einsum("tki,ti->tk", edges, np.broadcast_to(pixels, (len(c), 3))) / volume[:, None]
        return mixture, np.einsum("tk,tk->t", mixture, corners[..., 2])


def _holds(mixture: np.ndarray) -> np.ndarray:
    """Return a mask (t,) of the triangles that a pixel's ray hits: no coefficient in ``mixture`` (t,3) is negative."""
    whole = mixture.sum(axis=1)
    return (whole > 0.0) & (mixture >= -SEAM * whole[:, None]).all(axis=1)


def _extents(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower and upper corners of the triangles' bounding boxes, each (t,2), pixels.

    The box of a triangle that extends behind the viewer is infinite. ``corners`` (t,3,4) are homogeneous.
    """
    W = corners[..., 3:]
    before = (W > 0.0).all(axis=(1, 2))
    projected = corners[..., :2] / np.where(W > 0.0, W, 1.0)
    first, second, third = projected.transpose(1, 0, 2)
    low = np.where(before[:, None], np.minimum(np.minimum(first, second), third), -np.inf)
    high = np.where(before[:, None], np.maximum(np.maximum(first, second), third), np.inf)
    return low, high


def _pairs(points: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return indices of points (p,) and of boxes (p,), for p pairs of a point and a box that may contain the point."""
    origin, far = points.min(axis=0), points.max(axis=0)
    near = np.flatnonzero(((low <= far) & (high >= origin)).all(axis=1))
    cells = int(np.clip(np.sqrt(len(points)), 1, MOST_CELLS))
    while True:
        scale = cells / np.maximum(far - origin, 1e-9)
        first, last = (
            np.clip((np.clip(box[near], origin, far) - origin) * scale, 0, cells - 1).astype(np.int64)
            for box in (low, high)
        )
        wide, tall = (last - first + 1).T
        if cells == 1 or (wide * tall).sum() <= MOST_ENTRIES:
            break
        cells //= 2
    box, step = _spread(wide * tall)
    cell = (first[box, 1] + step // wide[box]) * cells + first[box, 0] + step % wide[box]
    order = np.argsort(cell, kind="stable")
    column, row = np.clip((points - origin) * scale, 0, cells - 1).astype(np.int64).T
    own = row * cells + column
    begin, end = (np.searchsorted(cell[order], own, side) for side in ("left", "right"))
    point, step = _spread(end - begin)
    return point, near[box[order[begin[point] + step]]]


def _spread(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each index i repeated ``counts[i]`` times, and a number per repetition from 0.

    Counts 2, 3 give the indices 0 0 1 1 1 and the numbers 0 1 0 1 2.
    """
    numbers = np.repeat(np.arange(len(counts)), counts)
    return numbers, np.arange(len(numbers)) - np.repeat(np.cumsum(counts) - counts, counts)
