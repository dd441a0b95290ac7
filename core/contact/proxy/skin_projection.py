"""Fit a skin to the surface of a body: its vertices slide along the lattice edges that hold them.

With its vertices on the surface a face cuts off convex parts. The distance of each face's centroid to the closest point
of the surface, along the face's normal, is averaged over a vertex's faces and moves the vertex.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

STEP = 2.0
"""Over-relaxation factor: a face's centroid moves by a third of the displacement of one of its corners."""
STEEP = 0.4
"""Least cosine between a vertex's edge and its normal in the division."""
FAR = 0.3
"""Distance in cells from which a face does not belong to the surface: it closes an opening."""

Nearest = Callable[[np.ndarray], np.ndarray]
"""Map from points (p,3) m to the closest points of the surface, (p,3) m."""


def project_to_surface(
    parts: np.ndarray,
    faces: np.ndarray,
    begins: np.ndarray,
    edges: np.ndarray,
    moved: np.ndarray,
    cells: np.ndarray,
    nearest: Nearest,
) -> np.ndarray:
    """Return improved edge fractions (s,) of vertices at ``begins + parts ways``, (s,3) m, with ``edges`` outwards.

    ``moved`` (s,) m : outward offset of the surface there; ``cells`` (s,) m : cell sizes.
    """
    corners = (begins + parts[:, None] * edges)[faces]
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

    lengths = np.linalg.norm(edges, axis=1)
    along = sum(mean(normals[:, k]) * edges[:, k] for k in range(3)) / lengths
    return parts + STEP * mean(short) / (lengths * np.maximum(along, STEEP))
