"""Where a body begins when that is another shape than that at rest: tetrahedra, or the unknowns of a subspace."""

from __future__ import annotations

import numpy as np

from ..constraints.pins import PinSchedule, corner_targets
from ..forces.embedded_points import EmbeddedPoints
from ..mesh.embedding import Embedding
from ..mesh.tet_mesh import TetMesh
from ..solvers.registry import in_subspace
from ..subspaces.carried_points import CarriedPoints
from .job import Job
from .lengths import length_words

BESIDE = 0.01
"""Part of the body's size by which it may begin beside the shape of the first frame before that is told."""


def start_positions(job: Job, mesh: TetMesh, embedding: Embedding, pins: PinSchedule) -> np.ndarray | None:
    """Vertices (n,3), m, of the tets at the job's first frame; None at rest.

    Each vertex follows the surface around it rigidly and is then corrected so that the surface lies where it begins, as
    the corners of pins do; what is held begins where its pins are.
    """
    if job.start is None:
        return None
    every, surface = np.arange(len(mesh.rest_positions)), np.arange(len(job.surface.positions))
    positions = corner_targets(every, mesh, embedding, surface, job.start[None], np.eye(3)[None])[0]
    positions[pins.corners[pins.held[0]]] = pins.targets[0][pins.held[0]]
    return positions


def start_unknowns(job: Job, points: CarriedPoints, pins: PinSchedule) -> np.ndarray | None:
    """Unknowns (r,3) of a subspace at the job's first frame; None at rest. ``points`` are the vertices of the surface.

    Those that bring the surface nearest to where it begins, by area, with the handles of pins where these are: the
    inside has no say, since the surface alone is known.
    """
    if job.start is None:
        return None
    held = pins.held[0]
    return points.unknowns_at(job.start, job.surface.vertex_areas, pins.corners[held], pins.targets[0][held])


def start_warnings(job: Job, points: EmbeddedPoints | CarriedPoints, start: np.ndarray | None) -> list[str]:
    """A sentence with a remedy where a body that begins at the space's positions ``start`` is not in the shape of the
    first frame, or none.
    """
    if start is None:
        return []
    beside = np.linalg.norm(points.positions(start) - job.start, axis=1)
    farthest, size = float(beside.max()), job.surface.size
    if farthest <= BESIDE * size:
        return []
    if in_subspace(job.solver):
        reason, remedy = "The few movements of its subspace do not reach", "Set more Modes, or choose another solver."
    else:
        reason, remedy = "The tetrahedra are too coarse for", "Set more Cells Across."
    mean = float(np.average(beside, weights=job.surface.vertex_areas))
    return [
        f"{reason} the shape in which the body begins: it lies up to {length_words(farthest)} beside it "
        f"({farthest / size:.0%} of its size), {length_words(mean)} in the mean. {remedy}"
    ]
