"""Second derivatives of elements' energies by F, in blocks, from the derivatives in the frame of singular vectors.

With the singular value decomposition ``F = U diag(sigma) V^T``, a change dF is ``D = U^T dF V`` in the frame of the
singular vectors. A change of column a alone, ``dF = u e_a^T``, is ``D = (U^T u) n_a^T`` with ``n_a = V^T e_a``. So the
block of second derivatives by two columns a and b is ``U K U^T``, where K (3,3) follows from n_a, n_b and the
coefficients of the tangent (:mod:`..energies.tangent`).
"""

from __future__ import annotations

import numpy as np

from ...foundation.kernels.jit import inlined, parallel_kernel
from ...foundation.kernels.small_matrix import out_of_frame
from ..energies.tangent import Tangent


def tangent_blocks(tangent: Tangent, weights: np.ndarray, out: np.ndarray) -> None:
    """Compute the second derivatives of the elements' energies by F into ``out`` (e,6,3,3): the blocks of the pairs (a,
    b), a >= b, of columns of F: (0,0), (1,0), (1,1), (2,0), (2,1), (2,2). ``weights`` (e,), m³: volumes, times h² in a
    time step h.
    """
    _tangent_blocks(len(weights), *tangent, weights, out)


@inlined
def add_pair_terms(na, nb, plus, minus, K):
    """Add the flip and twist terms (:mod:`..energies.isotropic`) to K (3,3), the block of second derivatives by two
    columns a and b of F.

    ``na``, ``nb`` (3,): unit vectors of the two columns, n_a and n_b in the module. K, na and nb are in the frame of
    the singular vectors. ``plus`` and ``minus``, (3,) each, are (flip + twist) / 2 and (flip - twist) / 2, times the
    volume of the element.
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
