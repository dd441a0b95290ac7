"""Second derivatives of energies by the deformation gradient F, one 3 x 3 block per pair of columns of F.

The blocks are computed from a tangent (:mod:`..energies.tangent`): the second derivatives in the frame of the singular
vectors of F. With the singular value decomposition ``F = U diag(sigma) V^T``, a change dF is ``D = U^T dF V`` in this
frame. A change of column a alone, ``dF = u e_a^T``, is ``D = (U^T u) n_a^T``, where ``n_a = V^T e_a``. So the block of
two columns a and b is ``U K U^T``. The matrix K (3,3) follows from n_a, n_b and the coefficients of the tangent.
"""

from __future__ import annotations

import numpy as np

from ...foundation.kernels.jit import inlined, parallel_kernel
from ...foundation.kernels.small_matrix import out_of_frame
from ..energies.tangent import Tangent


def tangent_blocks(tangent: Tangent, weights: np.ndarray, out: np.ndarray) -> None:
    """Write to ``out`` the second derivatives of the elements' energies by the deformation gradients F.

    ``out`` (e,6,3,3): one block per pair of columns of F, in the order (0,0), (1,0), (1,1), (2,0), (2,1), (2,2).
    ``tangent``: second derivatives of the energy densities. ``weights`` (e,), m³: volumes, times h² in a time step h.
    """
    _tangent_blocks(len(weights), *tangent, weights, out)


@inlined
def add_pair_terms(na, nb, plus, minus, K):
    """Add the terms of flip and twist to K (3,3), the second derivatives of an energy by two columns of F.

    With ``F = U diag(sigma) V^T``, a change dF of F is ``D = U^T dF V`` in the frame of the singular vectors. The
    second variation of an energy density psi(sigma) contains, for each pair of axes i < j with the third axis k, the
    two terms ``flip_k (D_ij + D_ji)² / 2`` and ``twist_k (D_ij - D_ji)² / 2``. The coefficients are
    ``flip_k = (psi_i - psi_j) / (sigma_i - sigma_j)`` and ``twist_k = (psi_i + psi_j) / (sigma_i + sigma_j)``, where
    ``psi_i = dpsi/dsigma_i``.

    K is in the frame of the singular vectors. ``na``, ``nb`` (3,): ``V^T e_a`` and ``V^T e_b`` for the unit vectors e_a
    and e_b of the two columns. ``plus`` (3,): ``w (flip + twist) / 2`` for an element of volume w. ``minus`` (3,):
    ``w (flip - twist) / 2``.
    """
    for i in range(3):
        for j in range(3):
            if i != j:
                k = 3 - i - j
                K[i, i] += plus[k] * na[j] * nb[j]
                K[i, j] += minus[k] * na[j] * nb[i]


@parallel_kernel
def _tangent_blocks(begin, end, U, V, curvature, flip, twist, weights, out):
    K, T = np.empty((3, 3)), np.empty((3, 3))
    plus, minus = np.empty(3), np.empty(3)
    for e in range(begin, end):
        w, n = weights[e], V[e]
        for k in range(3):
            plus[k] = 0.5 * w * (flip[e, k] + twist[e, k])
            minus[k] = 0.5 * w * (flip[e, k] - twist[e, k])
        for a in range(3):
            for b in range(a + 1):
                for i in range(3):
                    for j in range(3):
                        K[i, j] = w * curvature[e, i, j] * n[a, i] * n[b, j]
                add_pair_terms(n[a], n[b], plus, minus, K)
                out_of_frame(U[e], K, U[e], T, out[e, a * (a + 1) // 2 + b])
