"""The Laplacian of the elastic energy ([SubMFEM23] Eq. 9): stiff where the body is stiff.

``H_w`` is the sum of the three diagonal blocks of the stiffness at rest by coordinates, a scalar matrix over vertices.
For linear elasticity an element has ``w (4 mu + lambda) N_a . N_b``; here it is taken from the energies themselves.

Weights are flat in stiff parts but for the ratio of softest to stiffest, so that beyond :data:`STIFFEST` nothing of
them changes. A matrix that holds more digits of stiffness than a number has does not know its soft parts any more.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..assembly.sparsity import corner_pairs
from ..model.model import Model

STIFFEST = 1e10
"""Young's moduli, of the softest one's, that the Laplacian tells from stiffer ones."""


def elastic_laplacian(model: Model) -> sp.csr_matrix:
    """``H_w`` over all vertices, (n,n), N/m; its rows sum to zero."""
    tets, elastic, n = model.mesh.tets, model.elastic, len(model.mesh.rest_positions)
    blocks = model.stiffness(elastic.tangent(elastic.deformation(model.mesh.rest_positions)), 0.0)
    rows, columns, slots = corner_pairs(tets, np.arange(n))
    E = elastic.youngs_modulus
    share = np.minimum(1.0, STIFFEST * E.min() / E)
    values = (share[:, None] * np.trace(blocks, axis1=2, axis2=3)).ravel()[slots]
    lower = sp.csr_matrix((values, (np.maximum(rows, columns), np.minimum(rows, columns))), shape=(n, n))
    return (lower + sp.tril(lower, -1).T).tocsr()
