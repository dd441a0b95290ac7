"""Element stiffness matrices from second derivatives of energy densities, without intermediate 9 x 9 matrices.

A displacement dx of a corner changes the deformation gradient by ``dx N^T``, in the frame of its singular vectors by
``D = (U^T dx) n^T`` with ``n = V^T N``. So the block of two corners is ``U K U^T`` with a K of few terms. Shape
gradients sum to zero, so the blocks of corner 0 are minus sums of those of the other corners.
"""

from __future__ import annotations

import numpy as np

from ...foundation.kernels.jit import inlined, parallel_kernel
from ...foundation.kernels.small_matrix import out_of_frame
from ..energies.tangent import Tangent


def tangent_blocks(tangent: Tangent, N: np.ndarray, weights: np.ndarray, masses: np.ndarray, out: np.ndarray) -> None:
    """Compute the sum of stiffness and consistent mass matrix of each tet into ``out`` (m,10,3,3).

    The ten blocks are those of the corner pairs (a, b), a >= b: (0,0), (1,0), (1,1), (2,0) to (3,3). ``N`` (m,4,3),
    1/m: shape gradients; ``weights`` (m,), m³: volumes, times h² in a time step h; ``masses`` (m,4), kg: corner masses
    as in ``mass.element_mass``.
    """
    _tangent_blocks(len(weights), *tangent, N, weights, masses, out)


@inlined
def shape_gradients_in_frame(N, V, n):
    """Compute the shape gradients ``V^T N_a`` of a tet's corners 1 to 3, in the frame V (3,3), into n (3,3)."""
    for a in range(3):
        for i in range(3):
            n[a, i] = N[a + 1, 0] * V[0, i] + N[a + 1, 1] * V[1, i] + N[a + 1, 2] * V[2, i]


@inlined
def complete_blocks(masses, out):
    """Complete the element matrix ``out`` (10,3,3) of a tet: compute the blocks of corner 0 from the other blocks, and
    add the mass matrix for corner ``masses`` (4,), kg.
    """
    for i in range(3):
        for j in range(3):
            # Pair (a, b) is at a (a + 1) / 2 + b; for a < b, (b, a) is transposed.
            out[1, i, j] = -(out[2, i, j] + out[4, j, i] + out[7, j, i])
            out[3, i, j] = -(out[4, i, j] + out[5, i, j] + out[8, j, i])
            out[6, i, j] = -(out[7, i, j] + out[8, i, j] + out[9, i, j])
    for i in range(3):
        for j in range(3):
            out[0, i, j] = -(out[1, j, i] + out[3, j, i] + out[6, j, i])
    total = masses[0] + masses[1] + masses[2] + masses[3]
    both = 0.8 / total if total > 0.0 else 0.0
    pair = 0
    for a in range(4):
        for b in range(a + 1):
            inertia = both * masses[a] * masses[b]
            if a == b:
                inertia += 0.2 * masses[a]
            for i in range(3):
                out[pair, i, i] += inertia
            pair += 1


@inlined
def add_pair_terms(na, nb, plus, minus, K):
    """Add the flip and twist terms (:mod:`..energies.isotropic`) of two corners a, b to their block K (3,3).

    K and the shape gradients na, nb (3,) are in the frame of the singular vectors. ``plus`` and ``minus``, (3,) each,
    are (flip + twist) / 2 and (flip - twist) / 2, times the volume of the tet.
    """
    for i in range(3):
        for j in range(3):
            if i != j:
                k = 3 - i - j
                K[i, i] += plus[k] * na[j] * nb[j]
                K[i, j] += minus[k] * na[j] * nb[i]


@parallel_kernel
def _tangent_blocks(begin, end, U, V, curvature, flip, twist, N, weights, masses, out):
    n, K, T = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    plus, minus = np.empty(3), np.empty(3)
    for e in range(begin, end):
        w = weights[e]
        shape_gradients_in_frame(N[e], V[e], n)
        for k in range(3):
            plus[k] = 0.5 * w * (flip[e, k] + twist[e, k])
            minus[k] = 0.5 * w * (flip[e, k] - twist[e, k])
        for a in range(3):
            for b in range(a + 1):
                for i in range(3):
                    for j in range(3):
                        K[i, j] = w * curvature[e, i, j] * n[a, i] * n[b, j]
                add_pair_terms(n[a], n[b], plus, minus, K)
                out_of_frame(U[e], K, U[e], T, out[e, (a + 1) * (a + 2) // 2 + b + 1])
        complete_blocks(masses[e], out[e])
