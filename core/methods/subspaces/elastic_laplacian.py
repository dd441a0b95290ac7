"""Laplacian of the elastic energy ([SubMFEM23] Eq. 9): stiff where the body is stiff.

The Laplacian ``H_w`` is the sum of the xx, yy and zz blocks of the stiffness at rest. The matrix has one number per
pair of vertices. For linear elasticity, an element of volume w contributes ``w (4 mu + lambda) N_a . N_b`` to the entry
of vertices a and b. mu and lambda are the Lame moduli, and N_a is the gradient of the shape function of vertex a. Here
``H_w`` is computed from the stiffness of the elastic energies themselves. Each tet counts as an element, also in bodies
whose elements consist of several tets. The strain of such an element hardly resists differences between its tets. Modes
of its Laplacian contain these differences, and their subspace is up to three times as far from the full space.

Moduli above :data:`STIFFEST` times the softest are clamped: round-off in the matrix would hide the soft parts.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from ...mechanics.forces.elastic import ElasticPotential
from ..model.model import Model, elastic_potential

STIFFEST = 1e10
"""Largest Young's modulus in the Laplacian, relative to the softest element. Larger moduli are clamped."""


def elastic_laplacian(model: Model) -> sp.csr_matrix:
    """Return the Laplacian of the elastic energy at rest, a sparse matrix (n,n), N/m.

    The matrix has one number per pair of vertices: the sum of the xx, yy and zz blocks of the stiffness. Rows sum to
    zero.
    """
    model = replace(model, elastic=_each_tet(model))
    elastic, nodes, n = model.elastic, model.elements.nodes, len(model.mesh.rest_positions)
    blocks = model.stiffness(elastic.tangent(elastic.deformation(model.mesh.rest_positions)), 0.0)
    rows, columns, slots = nodes.pairs(np.arange(n))
    E = elastic.youngs_modulus
    share = np.minimum(1.0, STIFFEST * E.min() / E)
    values = (np.repeat(share, np.diff(nodes.block_starts)) * np.trace(blocks, axis1=1, axis2=2))[slots]
    lower = sp.csr_matrix((values, (np.maximum(rows, columns), np.minimum(rows, columns))), shape=(n, n))
    return (lower + sp.tril(lower, -1).T).tocsr()


def _each_tet(model: Model) -> ElasticPotential:
    """Return the elastic potential of the body with each tet as an element."""
    elastic, of_tet = model.elastic, model.elements.of_tet
    parameters, index = elastic.parameters[of_tet], elastic.energy_index[of_tet]
    return elastic_potential(model.mesh, parameters, elastic.energies, index, smoothed=False)
