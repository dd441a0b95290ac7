"""Colliders built in code."""

from __future__ import annotations

import numpy as np
from sinew.core.contact.penalty.collider_pose import ColliderPose
from sinew.core.contact.penalty.collider_surface import ColliderSurface
from sinew.core.contact.penalty.mesh_collider import MeshCollider

CUBE = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
CUBE_FACES = np.array(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4]]
    + [[1, 5, 7], [1, 7, 3]]
)
SQUARE = np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]])
SQUARE_FACES = np.array([[0, 1, 2], [0, 2, 3]])


def collider(faces, before, after=None, thickness=0.0, sheet_thickness=0.0) -> MeshCollider:
    """A mesh collider that moves from one set of positions to another."""
    frames = np.array([before] if after is None else [before, after], dtype=float)
    surface = ColliderSurface("Thing", faces, frames)
    first = ColliderPose.of(surface, frames[0])
    last = first if after is None else ColliderPose.of(surface, frames[1])
    return MeshCollider(surface, first, last, thickness, sheet_thickness)


def begin(obstacle, points, outward=(0.0, 0.0, 0.0)):
    """The step of points of a body that is left this way; 0 where the body is not to tell anything."""
    return obstacle.begin_step(
        np.asarray(points, dtype=float), np.tile(np.asarray(outward, dtype=float), (len(points), 1))
    )


def signed(faces, positions, points, **options):
    """Gaps of points that stand still."""
    points = np.asarray(points, dtype=float)
    return begin(collider(faces, positions, **options), points).contacts(points)


def turned(faces, which):
    """Some faces turned over."""
    out = np.array(faces)
    out[which] = out[which][:, [0, 2, 1]]
    return out


def rotation(axis, angle):
    """Rodrigues' formula."""
    x, y, z = np.asarray(axis) / np.linalg.norm(axis)
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K
