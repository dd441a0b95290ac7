"""Laplacian of the elastic energy ([SubMFEM23] Eq. 9): stiff where the body is stiff.

``H_w`` is the sum of the xx, yy and zz blocks of the stiffness at rest, a scalar matrix over vertices. For linear
elasticity an element has ``w (4 mu + lambda) N_a . N_b``; here it is computed from the energies themselves.

Moduli above :data:`STIFFEST` times the softest are clamped: round-off in the matrix would hide the soft parts.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..model.model import Model

STIFFEST = 1e10
"""Largest Young's modulus in the Laplacian, relative to that of the softest tet. Stiffer tets are clamped to it."""


def elastic_laplacian(model: Model) -> sp.csr_matrix:
    """Return the Laplacian of the elastic energy at rest, a scalar sparse matrix (n,n) N/m over all vertices: the sum
    of the xx, yy and zz blocks of the stiffness. Its rows sum to zero.
    """
    elastic, nodes, n = model.elastic, model.elements.nodes, len(model.mesh.rest_positions)
    blocks = model.stiffness(elastic.tangent(elastic.deformation(model.mesh.rest_positions)), 0.0)
    rows, columns, slots = nodes.pairs(np.arange(n))
    E = elastic.youngs_modulus
    share = np.minimum(1.0, STIFFEST * E.min() / E)
    values = (np.repeat(share, np.diff(nodes.block_starts)) * np.trace(blocks, axis1=1, axis2=2))[slots]
    lower = sp.csr_matrix((values, (np.maximum(rows, columns), np.minimum(rows, columns))), shape=(n, n))
    return (lower + sp.tril(lower, -1).T).tocsr()
