"""Static condensation of the mixed method, element by element ([MFEM22] Eqs. 15, 19, 20).

All in the frame of the singular vectors of F, ``D = U^T dF V``, where the derivative of the polar stretch is sparse:

    (V^T dS V)_ii = D_ii,      (V^T dS V)_ij = (sigma_i D_ij + sigma_j D_ji) / (sigma_i + sigma_j)

(from ``dF = d(R S)``). ``H_s`` is known in the frame Q of the independent stretch, ``T = V^T Q`` leads from one to the
other, and a corner that moves by dx gives ``D = (U^T dx) n^T``, ``n = V^T N``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..assembly.tangent_blocks import add_pair_terms, complete_blocks, rotate_block, shape_gradients_in_frame
from ..energies.isotropic import stretch_form
from ..jit import inlined, parallel_kernel
from ..small_matrix import SMALLEST_SUM, into_frame, out_of_frame, symmetric_from_six


@inlined
def _shares(sigma, share):
    """``share[i, j] = sigma_i / (sigma_i + sigma_j)``, the sum clamped away from zero (inverted elements)."""
    for i in range(3):
        for j in range(3):
            total = sigma[i] + sigma[j]
            if abs(total) < SMALLEST_SUM:
                total = SMALLEST_SUM if total >= 0.0 else -SMALLEST_SUM
            share[i, j] = sigma[i] / total


@inlined
def _stress_of(A, flip, E, M):
    """Stress M (3,3) of a stretch E (3,3) in the frame Q: ``H_s`` applied."""
    for p in range(3):
        M[p, p] = A[p, 0] * E[0, 0] + A[p, 1] * E[1, 1] + A[p, 2] * E[2, 2]
        for q in range(3):
            if p != q:
                M[p, q] = flip[3 - p - q] * E[p, q]


@inlined
def _six_of(M, off, out):
    """Six numbers of a symmetric matrix, the off-diagonal ones times ``off``."""
    out[0], out[1], out[2] = M[0, 0], M[1, 1], M[2, 2]
    out[3], out[4], out[5] = off * M[1, 2], off * M[0, 2], off * M[0, 1]


@inlined
def _inner(A, B):
    total = 0.0
    for i in range(3):
        for j in range(3):
            total += A[i, j] * B[i, j]
    return total


class Mixed(NamedTuple):
    """Where the mixed method linearises: decompositions U, V (m,3,3) and sigma (m,3) of F, polar stretches and
    independent ones s (m,6) with their frames Q (m,3,3), and the first and second derivatives of psi in these frames,
    stress (m,3), curvature (m,3,3) and flip (m,3), Pa.
    """

    U: np.ndarray
    sigma: np.ndarray
    V: np.ndarray
    polar: np.ndarray
    s: np.ndarray
    Q: np.ndarray
    stress: np.ndarray
    curvature: np.ndarray
    flip: np.ndarray


def condense(
    mixed: Mixed, geometric: bool, N: np.ndarray, weights: np.ndarray, masses: np.ndarray, blocks: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Element matrices of ``J^T H_s J`` with mass into blocks (m,10,3,3); returns the stresses ``J^T (g_s + H_s c)``
    (m,3,3) and ``c . H_s c`` (m,), Pa.

    Weights (m,) are m³ times h². ``geometric`` adds what tension gives to the constraint's second derivative, evaluated
    where s agrees with F: twists ``max(t_i + t_j, 0) / (sigma_i + sigma_j)`` with ``t = diag(V^T (dpsi/dS) V)``.
    """
    m = len(weights)
    P, disagreement = np.empty((m, 3, 3)), np.empty(m)
    _condense(m, *mixed, geometric, N, weights, masses, blocks, P, disagreement)
    return P, disagreement


def local_update(mixed: Mixed, dF: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """``ds = c + J dF`` (m,6), ``lambda = g_s + H_s ds`` (m,6), ``ds . H_s ds`` (m,) and ``lambda . c`` (m,)."""
    m = len(dF)
    ds, multiplier, curvature, work = np.empty((m, 6)), np.empty((m, 6)), np.empty(m), np.empty(m)
    _local_update(m, *mixed, dF, ds, multiplier, curvature, work)
    return ds, multiplier, curvature, work


@parallel_kernel
def _condense(
    begin, end, U, sigma, V, polar, s, Q, stress, A, flip, geometric, N, weights, masses, blocks, P, disagreement
):
    C, E, M, G, T, R, share = (
        np.empty((3, 3)),
        np.empty((3, 3)),
        np.empty((3, 3)),
        np.empty((3, 3)),
        np.empty((3, 3)),
        np.empty((3, 3)),
        np.empty((3, 3)),
    )
    D, H, HE, c = np.empty((6, 6)), np.empty((6, 6)), np.empty((3, 6, 3)), np.empty(6)
    n, plus, minus = np.empty((3, 3)), np.empty(3), np.empty(3)
    for e in range(begin, end):
        _shares(sigma[e], share)
        # Stress in the frame V: G = V^T Q (diag(stress) + H_s c) Q^T V.
        for k in range(6):
            c[k] = polar[e, k] - s[e, k]
        symmetric_from_six(c, C)
        into_frame(Q[e], C, Q[e], R, E)
        _stress_of(A[e], flip[e], E, M)
        disagreement[e] = _inner(E, M)
        for i in range(3):
            for j in range(3):
                T[i, j] = V[e, 0, i] * Q[e, 0, j] + V[e, 1, i] * Q[e, 1, j] + V[e, 2, i] * Q[e, 2, j]
        for k in range(3):
            plus[k] = 0.0
            if geometric:
                i = 1 if k == 0 else 0
                j = 1 if k == 2 else 2
                tension = 0.0
                for p in range(3):
                    tension += (T[i, p] * T[i, p] + T[j, p] * T[j, p]) * stress[e, p]
                plus[k] = 0.5 * weights[e] * max(tension / max(sigma[e, i] + sigma[e, j], SMALLEST_SUM), 0.0)
            minus[k] = -plus[k]
        for p in range(3):
            M[p, p] += stress[e, p]
        out_of_frame(T, M, T, R, G)
        for i in range(3):
            for j in range(3):
                if i != j:
                    G[i, j] *= 2.0 * share[i, j]
        out_of_frame(U[e], G, V[e], R, P[e])
        # The form over the six numbers of V^T dS V, then over the corners' U^T dx.
        stretch_form(T, A[e], flip[e], D, H)
        shape_gradients_in_frame(N[e], V[e], n)
        _corner_blocks(H, n, share, weights[e], plus, minus, U[e], HE, M, R, blocks[e])
        complete_blocks(masses[e], blocks[e])


@inlined
def _corner_blocks(H, n, share, w, plus, minus, U, HE, K, R, out):
    """Blocks of corners 2, 3, 4 from the form H (6,6) over the six numbers of ``V^T dS V``."""
    for a in range(3):
        for r in range(6):
            yz = share[1, 2], share[2, 1]
            xz = share[0, 2], share[2, 0]
            xy = share[0, 1], share[1, 0]
            h3, h4, h5 = H[r, 3], H[r, 4], H[r, 5]
            HE[a, r, 0] = w * (H[r, 0] * n[a, 0] + h4 * xz[0] * n[a, 2] + h5 * xy[0] * n[a, 1])
            HE[a, r, 1] = w * (H[r, 1] * n[a, 1] + h3 * yz[0] * n[a, 2] + h5 * xy[1] * n[a, 0])
            HE[a, r, 2] = w * (H[r, 2] * n[a, 2] + h3 * yz[1] * n[a, 1] + h4 * xz[1] * n[a, 0])
    for a in range(3):
        for b in range(a + 1):
            for j in range(3):
                e3, e4, e5 = HE[b, 3, j], HE[b, 4, j], HE[b, 5, j]
                K[0, j] = n[a, 0] * HE[b, 0, j] + share[0, 2] * n[a, 2] * e4 + share[0, 1] * n[a, 1] * e5
                K[1, j] = n[a, 1] * HE[b, 1, j] + share[1, 2] * n[a, 2] * e3 + share[1, 0] * n[a, 0] * e5
                K[2, j] = n[a, 2] * HE[b, 2, j] + share[2, 1] * n[a, 1] * e3 + share[2, 0] * n[a, 0] * e4
            add_pair_terms(n[a], n[b], plus, minus, K)
            rotate_block(U, K, R, out[(a + 1) * (a + 2) // 2 + b + 1])


@parallel_kernel
def _local_update(begin, end, U, sigma, V, polar, s, Q, stress, A, flip, dF, ds, multiplier, curvature, work):
    D, E, M, R, share = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    for e in range(begin, end):
        _shares(sigma[e], share)
        into_frame(U[e], dF[e], V[e], R, D)
        for i in range(3):
            for j in range(i):
                D[i, j] = share[i, j] * D[i, j] + share[j, i] * D[j, i]
                D[j, i] = D[i, j]
        out_of_frame(V[e], D, V[e], R, E)
        _six_of(E, 1.0, ds[e])
        for k in range(6):
            ds[e, k] += polar[e, k] - s[e, k]
        symmetric_from_six(ds[e], D)
        into_frame(Q[e], D, Q[e], R, E)
        _stress_of(A[e], flip[e], E, M)
        curvature[e] = _inner(E, M)
        for p in range(3):
            M[p, p] += stress[e, p]
        out_of_frame(Q[e], M, Q[e], R, D)
        _six_of(D, 2.0, multiplier[e])
        work[e] = 0.0
        for k in range(6):
            work[e] += multiplier[e, k] * (polar[e, k] - s[e, k])


def constraint_work(multiplier: np.ndarray, polar: np.ndarray, s: np.ndarray) -> np.ndarray:
    """``lambda . (s(F) - s)``, (m,), Pa."""
    work = np.empty(len(s))
    _constraint_work(len(s), multiplier, polar, s, work)
    return work


@parallel_kernel
def _constraint_work(begin, end, multiplier, polar, s, work):
    for e in range(begin, end):
        total = 0.0
        for k in range(6):
            total += multiplier[e, k] * (polar[e, k] - s[e, k])
        work[e] = total
