"""Points of a body with lumped masses, at which force fields are evaluated."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ...geometry.mesh.embedding import Embedding
from ...geometry.mesh.farthest_points import farthest_points
from ...geometry.mesh.tet_mesh import TetMesh
from ...mechanics.forces.force_fields import MassPoints
from ...methods.model.model import Model
from ...methods.subspaces.reduced_points import ReducedPoints
from ...methods.subspaces.space import Space

POINTS_A_HANDLE, FEWEST_POINTS = 20, 300
"""Number of mass points of a body in a subspace, per skinning handle. FEWEST_POINTS is the least number."""


def mass_points(model: Model, space: Space) -> MassPoints:
    """Return points of the body with lumped masses.

    The points are all tet vertices, or in a subspace the centres of mass of clusters of vertices. A uniform force field
    acts on these points as gravity does, except for round-off.
    """
    mesh, masses = model.mesh, model.lumped_masses
    if not space.is_reduced:
        return MassPoints(space.points(vertices_of(mesh)), masses)
    handles = 0 if space.skinning is None else space.skinning.weights.shape[1]
    count = max(FEWEST_POINTS, POINTS_A_HANDLE * handles) if handles else len(masses)
    nearest = farthest_points(mesh.rest_positions, count).nearest
    sums = np.bincount(nearest, masses)
    mean = sp.csr_matrix((masses / sums[nearest], (nearest, np.arange(len(masses)))))
    return MassPoints(ReducedPoints(mean @ mesh.rest_positions, mean @ space.basis), sums)


def vertices_of(mesh: TetMesh) -> Embedding:
    """Return the embedding of a mesh's vertices in the mesh itself.

    Each vertex is embedded in the first tet of which it is a corner.
    """
    slots = np.unique(mesh.tets.ravel(), return_index=True)[1]
    barycentric = np.zeros((len(slots), 4))
    barycentric[np.arange(len(slots)), slots % 4] = 1.0
    return Embedding((slots // 4).astype(np.int32), barycentric, np.zeros(len(slots), dtype=bool))
