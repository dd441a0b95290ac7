"""Separation of neighbouring faces of a skin (collision proxy) that are too close to each other.

Vertices move along their lattice edges towards the midpoints, so the skin stays closed and free of intersections.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...foundation.kernels.jit import inner_kernel, parallel_kernel
from ...foundation.kernels.simd_math import dot, minus, moved
from ...geometry.mesh.closest_point import closest_on_triangle

ROUNDS = 12
SHARE = 0.1
"""Fraction of the distance to the midpoint of its lattice edge by which an iteration moves a vertex."""


def separate_thin_faces(
    parts: np.ndarray, faces: np.ndarray, min_distance: np.ndarray, positions_of: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Move the skin's vertices along lattice edges until neighbouring faces are far enough apart.

    Return the vertex positions as fractions (s,) of the edges. The number of iterations is limited, so the minimum
    distance may not be reached everywhere.

    ``parts`` (s,): initial fractions.
    ``faces`` (f,3): triangles of the skin.
    ``min_distance`` (s,), m: minimum distance at each vertex.
    ``positions_of``: function that computes vertex positions (s,3), m, from fractions.
    """
    all_rings = rings = _rings(faces)
    for _ in range(ROUNDS):
        apart = np.empty(len(rings))
        _face_separation(len(rings), positions_of(parts), rings, apart)
        near = np.unique(rings[apart < min_distance[rings].min(axis=1)])
        if len(near) == 0:
            break
        parts = parts.copy()
        parts[near] += SHARE * (0.5 - parts[near])
        stirred = np.zeros(len(parts), dtype=bool)
        stirred[near] = True
        rings = all_rings[stirred[all_rings].any(axis=1)]
    return parts


def _rings(faces: np.ndarray) -> np.ndarray:
    """Return four vertices per edge of a closed surface, (e,4): two ends and two opposite corners."""
    a, b, c = (np.concatenate([faces[:, (k + j) % 3] for j in range(3)]).astype(np.int64) for k in range(3))
    n = int(faces.max()) + 1
    order = np.argsort(a * n + b)
    there = order[a[order] < b[order]]
    back = order[np.searchsorted((a * n + b)[order], b[there] * n + a[there])]
    return np.column_stack([a[there], b[there], c[there], c[back]])


@inner_kernel
def _between_segments(p, q, r, s):
    """Return the squared distance, m², between two segments, or inf if an end is nearest."""
    u, v, w = minus(q, p), minus(s, r), minus(p, r)
    a, b, c, d, e = dot(u, u), dot(u, v), dot(v, v), dot(u, w), dot(v, w)
    determinant = a * c - b * b
    if determinant <= 1e-12 * a * c:
        return np.inf
    x, y = (b * e - c * d) / determinant, (a * e - b * d) / determinant
    if not (0.0 < x < 1.0 and 0.0 < y < 1.0):
        return np.inf
    gap = moved(moved(w, x, u), -y, v)
    return dot(gap, gap)


@parallel_kernel
def _face_separation(first, last, positions, rings, apart):
    """Write the distance between the two faces at each edge of the skin to ``apart`` (e,), m."""
    w = np.empty(3)
    for k in range(first, last):
        a, b, c, d = positions[rings[k, 0]], positions[rings[k, 1]], positions[rings[k, 2]], positions[rings[k, 3]]
        across = min(closest_on_triangle(a, b, d, c, w), closest_on_triangle(a, b, c, d, w))
        sides = min(_between_segments(a, c, b, d), _between_segments(a, d, b, c))
        apart[k] = np.sqrt(min(across, sides))
