"""A collider at one moment: corners, normals, and the tree that is searched.

Which side of a solid a point is on is told by the normal of the closest feature: a face's own, an edge's sum of two, a
corner's sum weighted by angles [Baerentzen, Aanaes 2005]. It costs nothing beside the search for the closest point.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..jit import inner_kernel
from ..mesh.bounding_tree import BoundingTree, element_boxes, refit
from ..mesh.vertex_normals import corner_angles, face_normals
from .collider_surface import ColliderSurface


class ColliderPose(NamedTuple):
    """A collider's triangles, ready to be searched.

    Attributes
    ----------
    corners : (t,3,3) m
    normals : (t,3) unit, 0 for a face without area
    edge_normals, corner_normals : (t,3,3)
        Of the side from corner k, and of corner k; of any length.
    tree : BoundingTree
    """

    corners: np.ndarray
    normals: np.ndarray
    edge_normals: np.ndarray
    corner_normals: np.ndarray
    tree: BoundingTree

    @classmethod
    def of(cls, surface: ColliderSurface, positions: np.ndarray) -> ColliderPose:
        """The pose of a surface whose vertices are at positions (k,3)."""
        corners = np.ascontiguousarray(positions[surface.triangles], dtype=np.float64)
        normals = face_normals(corners)
        edge_normals = _summed(surface.edges, np.repeat(normals[:, None], 3, axis=1))
        corner_normals = _summed(surface.triangles, corner_angles(corners)[..., None] * normals[:, None])
        tree = refit(surface.tree, *element_boxes(corners))
        return cls(corners, normals, edge_normals, corner_normals, tree)


def _summed(number: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Sum values (t,3,3) over equal numbers (t,3) of their slots, and give each slot its sum."""
    flat = number.ravel()
    return np.stack([np.bincount(flat, values[..., i].ravel())[number] for i in range(3)], axis=-1)


@inner_kernel
def feature_normal(pose, triangle, w):
    """Normal of the feature that the closest point with weights w lies on: face, side or corner."""
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
