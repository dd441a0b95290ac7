"""Transfer of vertex weights and points between two meshes by the closest points of their surfaces."""

from __future__ import annotations

import numpy as np
from mathutils.bvhtree import BVHTree

FAR = 0.05
"""Largest distance of a vertex from the other surface at which it gets weights, in sizes of the mesh."""

LEAST = 1e-4
"""Weight below which a target vertex gets none."""

POWER = 4
"""Power of the inverse distance by which a surface vertex counts for a point."""


class SurfaceTransfer:
    """Map from the surface of a source mesh to the vertices of a target mesh.

    Parameters
    ----------
    source : (n,3), positions of the source's vertices
    triangles : (t,3), its triangles
    target : (k,3), positions of the target's vertices
    fit : True to scale and move the source first, so that its bounding box is that of the target
    """

    def __init__(self, source: np.ndarray, triangles: np.ndarray, target: np.ndarray, fit: bool) -> None:
        self._low, self._target_low, self._scale = np.zeros(3), np.zeros(3), np.ones(3)
        if fit:
            sides, wanted = np.ptp(source, axis=0), np.ptp(target, axis=0)
            self._low, self._target_low = source.min(axis=0), target.min(axis=0)
            self._scale = wanted / np.where(sides > 0.0, sides, 1.0)
        fitted = self._fitted(source)
        tree = BVHTree.FromPolygons(fitted.tolist(), triangles.tolist(), all_triangles=True)
        found = [tree.find_nearest(point) for point in target.tolist()]
        self._closest = np.array([point for point, *_ in found])
        self._corners = triangles[[index for _, _, index, _ in found]]
        self._weights = barycentric(fitted[self._corners], self._closest)
        self._near = np.array([distance for *_, distance in found]) <= FAR * float(np.ptp(target, axis=0).max())
        self._moved = target - self._closest

    def weights(self, source: np.ndarray) -> np.ndarray:
        """Return the weight (k,) of each target vertex from the weights (n,) of the source's vertices.

        Where all weights of the source are 0 or 1, so are the target's. A target vertex far from the source's surface
        gets 0.
        """
        found = self.values(source[:, None])[:, 0]
        is_selection = bool(np.isin(source, (0.0, 1.0)).all())
        return np.round(found) if is_selection else np.where(found < LEAST, 0.0, found)

    def values(self, source: np.ndarray) -> np.ndarray:
        """Return interpolated values (k,c) at the target's vertices from the values (n,c) at the source's vertices.

        They are 0 far from the source's surface.
        """
        found = np.einsum("kv,kvc->kc", self._weights, source[self._corners])
        return np.where(self._near[:, None], found, 0.0)

    def points(self, points: np.ndarray) -> np.ndarray:
        """Return points (p,3) near the source, such as those of a curve inside, moved along with its surface.

        A point moves as the surface around it: by the mean of the displacements to the target, each with a power of its
        inverse distance [Shepard 1968].
        """
        fitted, near = self._fitted(points), self._near if self._near.any() else slice(None)
        closest, moved = self._closest[near], self._moved[near]
        result = np.empty_like(fitted)
        for k, point in enumerate(fitted):
            distances = np.linalg.norm(closest - point, axis=1)
            shares = (max(distances.min(), 1e-12) / np.maximum(distances, 1e-12)) ** POWER
            result[k] = point + shares @ moved / shares.sum()
        return result

    @property
    def scale(self) -> float:
        """Mean factor on lengths."""
        return float(np.cbrt(np.prod(self._scale)))

    def _fitted(self, points: np.ndarray) -> np.ndarray:
        return (points - self._low) * self._scale + self._target_low


def mirrored(positions: np.ndarray, triangles: np.ndarray) -> SurfaceTransfer:
    """Return the map from the reflection of a mesh across X to the mesh itself."""
    return SurfaceTransfer(positions * [-1.0, 1.0, 1.0], triangles, positions, fit=False)


def barycentric(corners: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return the barycentric coordinates (p,3) of points (p,3) in the planes of triangles (p,3,3).

    A point of a triangle without area counts as its first corner.
    """
    first, second, to = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0], points - corners[:, 0]
    a, b, c = (np.einsum("pi,pi->p", x, y) for x, y in ((first, first), (first, second), (second, second)))
    d, e = (np.einsum("pi,pi->p", x, to) for x in (first, second))
    area = a * c - b * b
    flat = area <= 1e-14 * a * c
    area = np.where(flat, 1.0, area)
    v, w = ((np.where(flat, 0.0, x) / area) for x in (c * d - b * e, a * e - b * d))
    found = np.clip(np.stack([1.0 - v - w, v, w], axis=1), 0.0, 1.0)
    return found / found.sum(axis=1, keepdims=True)
