"""Measurement of the properties of a body on which advice about its settings depends."""

from __future__ import annotations

import numpy as np

from ...foundation.schema.tracks import at_frames
from ...geometry.mesh.tet_mesh import TetMesh
from ...geometry.tetrahedra.wall_thickness import Thickness
from ...mechanics.materials.fields import MaterialFields
from ..job.job import Job
from .advice import CELLS_THROUGH, BodyFacts
from .slowest_vibration import slowest_vibration

THIN_PART = 0.05
"""Smallest fraction of the surface that counts as a thin part. A smaller fraction is a tip or an edge."""


def facts_of(job: Job, mesh: TetMesh, fields: MaterialFields, thickness: Thickness | None) -> BodyFacts:
    """Measure the properties of a job's body on which advice about solver, resolution and time step depends.

    ``thickness``: result of :func:`thin_warnings.thickness_of`.
    """
    stiffness = fields.youngs_modulus
    return BodyFacts(
        tets=len(mesh.tets),
        cells_across=job.body.resolution.cells_across,
        size=job.body.surface.size,
        contrast=float(stiffness.max() / stiffness.min()),
        thickness=thin_thickness(thickness),
        movement=movement_of(job),
        slowest=slowest_vibration(job, mesh, fields),
    )


def thin_thickness(thickness: Thickness | None) -> float:
    """Return the median thickness, m, of the body's parts less than CELLS_THROUGH cells thick.

    The result is 0 if these parts cover less than the fraction THIN_PART of the surface, or if ``thickness`` is None.
    """
    if thickness is None:
        return 0.0
    found = thickness.below(CELLS_THROUGH * thickness.length)
    return found.thickness if found.share >= THIN_PART else 0.0


def movement_of(job: Job) -> float | None:
    """Return the largest deviation of a pin or collider vertex from uniform motion, m per frame.

    The deviation is the displacement of a vertex in one frame minus the vertex's mean displacement per frame. A body
    follows uniform motion without jiggling. The result is None with pins or mesh colliders, but only one frame.
    """
    moved = [job.body.pin_positions] if job.body.pin_positions.shape[1] else []
    moved += [collider.positions for collider in job.body.mesh_colliders if len(collider.positions) > 1]
    if job.frame_count < 2 and (moved or job.body.mesh_colliders):
        return None
    moved = [at_frames(track, job.frame_count) for track in moved]
    return max((_movement(positions) for positions in moved), default=0.0)


def _movement(positions: np.ndarray) -> float:
    """Return the largest deviation of n vertices from uniform motion, m per frame.

    ``positions`` (frames,n,3), m: positions of the vertices.
    """
    if len(positions) < 2:
        return 0.0
    mean = (positions[-1] - positions[0]) / (len(positions) - 1)
    pairs = zip(positions[:-1], positions[1:], strict=True)
    return max(float(np.linalg.norm(after - before - mean, axis=1).max(initial=0.0)) for before, after in pairs)
