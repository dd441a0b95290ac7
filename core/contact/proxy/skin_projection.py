"""Fit of a skin (collision proxy) to the surface of a body.

Each vertex of the skin moves along an edge of the lattice of tets. If the vertices were on the surface, flat faces
would cut off convex regions. So the faces' centroids are fitted: each vertex moves by the mean distance of its faces'
centroids from the surface. A distance is positive if the surface is on the outer side of the face.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

STEP = 2.0
"""Displacement of a skin vertex, relative to the mean distance of its faces' centroids from the surface.

The ratio exceeds 1, since the centroid of a face moves by only a third of the displacement of one vertex.
"""
STEEP = 0.4
"""Least cosine between the lattice edge of a skin vertex and the mean normal of its faces.

Displacements along the normal are divided by the cosine to give displacements along the edge.
"""
FAR = 0.3
"""Largest distance of a skin face from the body's surface, in cells, at which the face is fitted.

Faces farther away are ignored, since they close openings of the surface.
"""

Nearest = Callable[[np.ndarray], np.ndarray]
"""Function from points (p,3) m to the closest points of a surface, (p,3) m."""


def project_to_surface(
    parts: np.ndarray,
    faces: np.ndarray,
    inside_nodes: np.ndarray,
    edges: np.ndarray,
    moved: np.ndarray,
    cells: np.ndarray,
    nearest: Nearest,
) -> np.ndarray:
    """Return improved positions of the vertices of a skin (collision proxy), as fractions (s,) of lattice edges.

    Vertex i lies on edge i, at ``inside_nodes + parts * edges``.

    ``parts`` (s,): initial fractions.
    ``faces`` (f,3): triangles of the skin.
    ``inside_nodes`` (s,3), m: inside ends of the edges.
    ``edges`` (s,3), m: edge vectors, directed outwards.
    ``moved`` (s,), m: outward offset of the surface near each vertex.
    ``cells`` (s,), m: cell size at each vertex.
    ``nearest``: function that returns the closest points of the surface.
    """
    corners = (inside_nodes + parts[:, None] * edges)[faces]
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
