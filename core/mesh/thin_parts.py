"""Where a body is thinner than a length: how far it is from its surface straight through to the other side.

Only faces that look away from each other count (less than 45 degrees from opposite): a sharp edge is no thin part.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..jit import parallel_kernel
from .bounding_tree import build_tree
from .closest_point import first_hit
from .surface_mesh import SurfaceMesh
from .surface_samples import proper_triangles, sample_surface

SPACING = 0.5
"""Of the places that are measured, as a part of the length."""
OPPOSITE = -(0.5**0.5)
START = 1e-4
"""Part of the length by which a ray begins below the surface."""
DRAWN_IN = 0.02
"""Part of the way from its place to the triangle's middle at which a ray begins: edges belong to two triangles."""


class ThinParts(NamedTuple):
    """``share`` of the area that is thinner than the length, 0 to 1; ``vertices`` (k,) next to it; ``thickness`` (m)
    that half of it does not reach; 0 where nothing is thin.
    """

    share: float
    vertices: np.ndarray
    thickness: float


def thin_parts(surface: SurfaceMesh, length: float, most: int | None = None) -> ThinParts:
    """Parts of a surface that are thinner than ``length``, m. Openings have no other side, so sheets are not thin.

    Of about ``most`` triangles at most, spread over all, the places are measured: others need the memory, too.
    """
    triangles = surface.triangles[proper_triangles(surface.positions, surface.triangles)]
    if len(triangles) == 0:
        return ThinParts(0.0, np.empty(0, dtype=np.int64), 0.0)
    points = (surface.positions - surface.positions[triangles[:, 0]].mean(axis=0)) / length
    corners = np.ascontiguousarray(points[triangles])
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    if float(np.einsum("ni,ni->", corners[:, 0], normals)) < 0.0:  # inside out
        normals = -normals
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    every = 1 if most is None else -(-len(triangles) // most)
    samples = sample_surface(points, triangles[::every], SPACING)
    samples = samples._replace(triangle=every * samples.triangle)
    weights = (1.0 - DRAWN_IN) * samples.barycentric + DRAWN_IN / 3.0
    places = np.einsum("sc,sci->si", weights, corners[samples.triangle])
    tree = build_tree(corners.min(axis=1), corners.max(axis=1))
    other = np.empty(len(places), dtype=np.int64)
    _other_side(len(places), places, samples.triangle, normals, corners, *tree, other)
    hit = other >= 0
    facing = np.einsum("si,si->s", normals[samples.triangle], normals[other])
    thin = hit & (facing < OPPOSITE)
    if not thin.any():
        return ThinParts(0.0, np.empty(0, dtype=np.int64), 0.0)
    nearest = triangles[samples.triangle[thin], samples.barycentric[thin].argmax(axis=1)]
    # Distance from the place to the plane of the other side.
    beyond = corners[other[thin], 0] - places[thin]
    depths = np.abs(np.einsum("si,si->s", beyond, normals[other[thin]]))
    share = float(samples.area[thin].sum() / samples.area.sum())
    return ThinParts(share, np.unique(nearest), float(np.median(depths)) * length)


@parallel_kernel
def _other_side(first, last, places, triangle, normals, corners, order, start, end, child, low, high, other):
    """The triangle that a ray of length one from each place straight inwards meets first, or -1."""
    p, q = np.empty(3), np.empty(3)
    for s in range(first, last):
        n = normals[triangle[s]]
        for i in range(3):
            p[i] = places[s, i] - START * n[i]
            q[i] = places[s, i] - n[i]
        other[s] = first_hit(p, q, corners, order, start, end, child, low, high)
