"""What a body and its surroundings share in the first frame: contact pushes each point out by its nearest side, which
frees what overlaps a little and holds what stands in the middle.
"""

from __future__ import annotations

import numpy as np

from ..contact.collider_pose import ColliderPose
from ..contact.collider_surface import ColliderSurface
from ..contact.mesh_collider import MeshCollider
from ..mesh.surface_mesh import SurfaceMesh
from ..mesh.tet_mesh import TetMesh
from ..mesh.winding_number import WindingNumber
from .job import Job
from .lengths import length_words

SHALLOW = 0.01
"""Depth in sizes of the body that contact undoes in a moment, without a leap."""


def overlap_warnings(job: Job, mesh: TetMesh) -> list[str]:
    """Sentences, each with a remedy, about what begins deep in something else; empty where nothing does."""
    if job.ground is None and not job.colliders:
        return []
    surface = SurfaceMesh(job.first_positions, job.surface.triangles)
    shallow = SHALLOW * surface.size
    points = surface.positions
    if job.start is None:  # points within the body, which tell of a post that its surface goes around, are known
        inner = WindingNumber(surface.positions, surface.triangles).contains(mesh.rest_positions)
        points = np.concatenate([points, mesh.rest_positions[inner]])
    said = []
    if job.ground is not None:
        depth = job.ground.height - points[:, 2]
        if depth.max() > shallow:
            said.append(
                f"{_count(depth, shallow)} of the body begin under the ground, up to {length_words(depth.max())} deep, "
                "and come up at half the body's size a second: raise the body, or lower the ground."
            )
    for collider in job.colliders:
        inside = _depths(points, collider.name, collider.triangles, collider.positions[0])
        corners = collider.positions[0][np.unique(collider.triangles)]
        around = _depths(corners, "body", surface.triangles, surface.positions)
        if max(inside.max(), around.max()) > shallow:
            said.append(
                f"The body and the collider “{collider.name}” begin in each other, up to "
                f"{length_words(max(inside.max(), around.max()))} deep ({_count(inside, shallow)} of the body): each "
                "point is pushed out by its nearest side, and a collider in the middle stays stuck. Move them apart."
            )
    return said


def _depths(points: np.ndarray, name: str, triangles: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """How deep points (p,3) lie in a surface, (p,) m; not above 0 outside, and in what encloses nothing."""
    surface = ColliderSurface(name, triangles, positions[None])
    pose = ColliderPose(surface, positions)
    start = MeshCollider(surface, pose, pose, 0.0, 0.0).begin(points, np.zeros_like(points))
    return -start.first.gaps


def _count(depth: np.ndarray, shallow: float) -> str:
    number = int(np.count_nonzero(depth > shallow))
    return "1 point" if number == 1 else f"{number} points"
