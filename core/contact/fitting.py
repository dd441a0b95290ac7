"""A skin's vertices, slid along the edges of the lattice that they lie on, so that its faces lie on the body.

With its vertices on the surface a face cuts off what is convex. How far its middle is from the closest place of the
surface, along the face's normal, is what its vertices give way by, each by the mean of its faces.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

STEP = 2.0
"""Times that which is made up for: a face's middle moves by a third of what one of its corners does."""
STEEP = 0.4
"""Least cosine between a vertex's edge and its normal that is reckoned with."""
FAR = 0.3
"""Distance in cells over which a face is not the surface's: it closes an opening."""

Nearest = Callable[[np.ndarray], np.ndarray]
"""Points (p,3) m to the closest places of the surface, (p,3) m."""


def project_to_surface(
    parts: np.ndarray,
    faces: np.ndarray,
    begins: np.ndarray,
    ways: np.ndarray,
    moved: np.ndarray,
    cells: np.ndarray,
    nearest: Nearest,
) -> np.ndarray:
    """Better places of vertices on their edges, (s,): those lie at ``begins + parts ways``, (s,3) m, ways outwards.

    ``moved`` (s,) m, by how much the surface is moved outwards there; ``cells`` (s,) m.
    """
    corners = (begins + parts[:, None] * ways)[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    areas = np.linalg.norm(normals, axis=1)
    normals /= np.where(areas > 0.0, areas, 1.0)[:, None]
    middles = corners.mean(axis=1)
    away = nearest(middles) - middles
    short = np.where(np.einsum("fi,fi->f", away, normals) > 0.0, 1.0, -1.0) * np.linalg.norm(away, axis=1)
    weights = np.where(np.abs(short) < FAR * cells[faces[:, 0]], areas, 0.0)
    short += moved[faces].mean(axis=1)

    def mean(values: np.ndarray) -> np.ndarray:
        total = np.bincount(faces.ravel(), np.repeat(weights, 3), minlength=len(parts))
        summed = np.bincount(faces.ravel(), np.repeat(weights * values, 3), minlength=len(parts))
        return summed / np.where(total > 0.0, total, 1.0)

    lengths = np.linalg.norm(ways, axis=1)
    along = sum(mean(normals[:, k]) * ways[:, k] for k in range(3)) / lengths
    return parts + STEP * mean(short) / (lengths * np.maximum(along, STEEP))
