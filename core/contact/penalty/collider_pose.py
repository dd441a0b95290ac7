"""Triangles of a collider at one moment, with normals and a bounding tree.

The normal at the closest point decides on which side of a solid a point lies. The normal on an edge is the sum of two
face normals. The normal at a corner is the sum of the face normals, weighted by angle [Baerentzen, Aanaes 2005].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...foundation.kernels.jit import inner_kernel
from ...geometry.mesh.bounding_tree import BoundingTree, element_boxes, refit
from ...geometry.mesh.vertex_normals import corner_angles, face_normals
from .collider_surface import ColliderSurface


class ColliderPose(NamedTuple):
    """Triangles of a collider at one moment, ready for closest-point searches.

    Attributes
    ----------
    corners : (t,3,3) m
    normals : (t,3) unit, 0 for a face without area
    edge_normals : (t,3,3), not normalized
        Sum of the face normals at each edge; edge k of a triangle runs from its corner k to k + 1.
    corner_normals : (t,3,3), not normalized
        Sum of the face normals around each corner, weighted by angle.
    tree : BoundingTree over the triangles
    """

    corners: np.ndarray
    normals: np.ndarray
    edge_normals: np.ndarray
    corner_normals: np.ndarray
    tree: BoundingTree

    @classmethod
    def of(cls, surface: ColliderSurface, positions: np.ndarray) -> ColliderPose:
        """Return the triangles of a surface at given vertex positions.

        ``positions`` (k,3), m: of the vertices.
        """
        corners = np.ascontiguousarray(positions[surface.triangles], dtype=np.float64)
        normals = face_normals(corners)
        edge_normals = _summed(surface.edges, np.repeat(normals[:, None], 3, axis=1))
        corner_normals = _summed(surface.triangles, corner_angles(corners)[..., None] * normals[:, None])
        tree = refit(surface.tree, *element_boxes(corners))
        return cls(corners, normals, edge_normals, corner_normals, tree)


def _summed(feature_index: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Sum vectors (t,3,3) over entries of equal index, and return the sums at every entry."""
    flat = feature_index.ravel()
    return np.stack([np.bincount(flat, values[..., i].ravel())[feature_index] for i in range(3)], axis=-1)


@inner_kernel
def feature_normal(pose, triangle, w):
    """Return the normal of the face, edge or corner on which a point of a triangle lies.

    The normal is not always of unit length. ``w`` (3,): barycentric weights of the point.
    """
    zeros = 0
    for k in range(3):
        zeros += 1 if w[k] == 0.0 else 0
    if zeros == 0:
        return pose.normals[triangle]
    for k in range(3):
        if zeros == 1 and w[(k + 2) % 3] == 0.0:
            return pose.edge_normals[triangle, k]
        if zeros == 2 and w[k] != 0.0:
            return pose.corner_normals[triangle, k]
    return pose.normals[triangle]
