"""Sparse handles in place of skinning modes: weights with compact supports ([SMS25] Sec. 3.5).

A mode moves the whole body, a handle only its surroundings. Neither is better for all local dents
(``docs/benchmarks/multilevel.md``); modes are better for bending.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse.csgraph import connected_components

from ...foundation.errors import SubspaceError
from ..handles.affine_handles import handles_of
from ..model.model import Model
from .elastic_laplacian import elastic_laplacian
from .skinning_modes import SkinningModes, check_count

CONSTANT = 1e-10
"""Rayleigh quotient below which a weight counts as constant, relative to the smallest ratio ``H[i, i] / M[i, i]``."""


def sparse_handles(model: Model, count: int) -> SkinningModes:
    """Return about ``count`` sparse handles of a model in the form of modes.

    ``eigenvalues`` are the Rayleigh quotients of the weights with Laplacian and mass; the weights are mass-normalised.
    A few of the handles may be missing: those of clusters that have no free vertex of their own. Raises SubspaceError
    as :func:`.skinning_modes.skinning_modes`.
    """
    H, M, n = elastic_laplacian(model), model.mass, len(model.mesh.rest_positions)
    islands = connected_components(H, directed=False)[1]
    check_count(count, n - len(model.pinned), len(np.setdiff1d(np.unique(islands), islands[model.held])))
    mesh = model.mesh
    found = handles_of(mesh.rest_positions, mesh.tets, model.youngs_modulus, model.pinned, count)
    weights = found.weights.weights.toarray()
    if weights.shape[1] == 0:
        raise SubspaceError(
            "No handle has a vertex that is not pinned.", "Pin fewer vertices, or raise Modes (of the subspace)."
        )
    weights /= np.sqrt(np.einsum("nk,nk->k", weights, M @ weights))
    quotients = np.einsum("nk,nk->k", weights, H @ weights)
    quotients[quotients < CONSTANT * (H.diagonal() / M.diagonal()).min()] = 0.0
    return SkinningModes(weights, quotients, islands, H)
