"""Overlaps between a body and its colliders in the first frame.

Contact pushes each point out through the nearest side of the collider. Contact thus resolves small overlaps, but a body
around a collider stays stuck.
"""

from __future__ import annotations

import numpy as np

from ...contact.penalty.collider_pose import ColliderPose
from ...contact.penalty.collider_surface import ColliderSurface
from ...contact.penalty.mesh_collider import MeshCollider
from ...foundation.unit_words import length_words
from ...geometry.mesh.surface_mesh import SurfaceMesh
from ...geometry.mesh.tet_mesh import TetMesh
from ...geometry.mesh.winding_number import WindingNumber
from ..job.environment import Collider, Ground
from ..job.job import Job

SHALLOW = 0.01
"""Largest depth of an overlap, relative to the body's size, that contact resolves quickly and without a jump."""


def overlap_warnings(job: Job, mesh: TetMesh) -> list[str]:
    """Return warnings, each with a remedy, about colliders that the body overlaps in the first frame.

    Overlaps up to SHALLOW times the body's size cause no warning.
    """
    if not job.body.colliders:
        return []
    surface = SurfaceMesh(job.body.first_positions, job.body.surface.triangles)
    shallow = SHALLOW * surface.size
    colliders = [c for c in job.body.colliders if not _is_clear_of(c, surface, shallow)]
    points = surface.positions
    # Mesh vertices inside the body detect a post that its surface encloses; only their rest positions are known.
    if colliders and job.body.initial_shape is None:
        inner = WindingNumber(surface.positions, surface.triangles).contains(mesh.rest_positions)
        points = np.concatenate([points, mesh.rest_positions[inner]])
    said = [_said(collider, points, surface, shallow) for collider in colliders]
    return [words for words in said if words]


def _is_clear_of(collider: Ground | Collider, surface: SurfaceMesh, shallow: float) -> bool:
    """Return True if bounding boxes show that a body overlaps a collider by at most ``shallow``, m.

    For a collider mesh, ``shallow`` is ignored: the boxes must be disjoint.
    """
    low, high = surface.positions.min(axis=0), surface.positions.max(axis=0)
    if isinstance(collider, Ground):
        return bool(collider.height - low[2] <= shallow)
    corners = collider.positions[0][np.unique(collider.triangles)]
    apart = np.maximum(corners.min(axis=0) - high, low - corners.max(axis=0))
    return bool(apart.max() >= 0.0)


def _said(collider: Ground | Collider, points: np.ndarray, surface: SurfaceMesh, shallow: float) -> str:
    """Return the warning that a body overlaps a collider by more than ``shallow``, m, or "".

    ``points`` (p,3): vertices of the body's ``surface`` and the tet vertices inside the surface.
    """
    if isinstance(collider, Ground):
        depth = collider.height - points[:, 2]
        if depth.max() <= shallow:
            return ""
        return (
            f"The body starts up to {length_words(depth.max())} below the ground ({_count(depth, shallow)}), and is "
            "pushed up at half its size per second: raise the body, or lower the ground."
        )
    inside = _depths(points, collider.name, collider.triangles, collider.positions[0])
    corners = collider.positions[0][np.unique(collider.triangles)]
    around = _depths(corners, "body", surface.triangles, surface.positions)
    deepest = max(inside.max(), around.max())
    if deepest <= shallow:
        return ""
    return (
        f"The body and the collider “{collider.name}” overlap at the first frame, up to {length_words(deepest)} deep "
        f"({_count(inside, shallow)} of the body): each point is pushed out through the nearest side, and a collider "
        "inside the body stays stuck. Separate them."
    )


def _depths(points: np.ndarray, name: str, triangles: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Return the depth (p,), m, of each of ``points`` (p,3) below a surface; 0 or negative outside."""
    surface = ColliderSurface(name, triangles, positions[None])
    pose = ColliderPose.of(surface, positions)
    start = MeshCollider(surface, pose, pose, 0.0, 0.0).begin_step(points, np.zeros_like(points))
    return -start.initial_contacts.gaps


def _count(depth: np.ndarray, shallow: float) -> str:
    number = int(np.count_nonzero(depth > shallow))
    return "1 point" if number == 1 else f"{number} points"
