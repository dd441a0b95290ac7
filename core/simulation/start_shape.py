"""Where tetrahedra are when a body begins in another shape than that at rest."""

from __future__ import annotations

import numpy as np

from ..constraints.pins import PinSchedule, corner_targets
from ..errors import SettingsError
from ..mesh.embedding import Embedding
from ..mesh.tet_mesh import TetMesh
from ..solvers.registry import in_subspace
from .job import Job


def start_positions(job: Job, mesh: TetMesh, embedding: Embedding, pins: PinSchedule) -> np.ndarray | None:
    """Vertices (n,3), m, of the tets at the job's first frame; None at rest. SettingsError for a subspace, whose few
    movements need not know the shape.

    Each vertex follows the surface around it rigidly and is then corrected so that the surface lies where it begins, as
    the corners of pins do; what is held begins where its pins are.
    """
    if job.start is None:
        return None
    if in_subspace(job.solver):
        raise SettingsError(
            "A body in a subspace begins at its rest shape.", "Choose another solver, or clear Rest Shape."
        )
    every, surface = np.arange(len(mesh.rest_positions)), np.arange(len(job.surface.positions))
    positions = corner_targets(every, mesh, embedding, surface, job.start[None], np.eye(3)[None])[0]
    positions[pins.corners[pins.held[0]]] = pins.targets[0][pins.held[0]]
    return positions
