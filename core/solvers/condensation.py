"""Static condensation of the mixed method, element by element ([MFEM22] Eqs. 15, 19, 20).

All in the frame of the singular vectors of F, ``D = U^T dF V``, where the derivative of the polar stretch is sparse:

    (V^T dS V)_ii = D_ii,      (V^T dS V)_ij = (sigma_i D_ij + sigma_j D_ji) / (sigma_i + sigma_j)

(from ``dF = d(R S)``). ``H_s`` is known in the frame Q of the independent stretch, and ``T = V^T Q`` leads from one to
the other. A corner that moves along the axis i changes F by ``e_i N^T``, so ``D = u n^T`` with u the row i of U and
``n = V^T N``; with e_p in place of u, row p of the shares ``sigma_p / (sigma_p + sigma_j)`` (a half at p) and row p of
T are enough for the stretch in the frame Q:

    E = t_p m^T + m t_p^T,      m = T^T (shares_p n)

The element matrix is ``E^T H_s E`` over the nine directions of three corners. Eight elements are done side by side.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from ..assembly.tangent_blocks import complete_blocks
from ..jit import inlined, kernel, parallel_kernel
from ..lanes import (
    LANES,
    combine,
    combine_six,
    congruent,
    cross,
    dot,
    dot_six,
    each,
    load_matrix,
    load_vector,
    matrix,
    plus_six,
    product,
    set_matrix,
    set_six,
    set_vector,
    six,
    store,
    store_matrix,
    times,
    transposed,
    vector,
)
from ..small_matrix import SMALLEST_SUM

# Where rows of the workspace begin: what an element is given, then what condensing it and its local update add.
_U, _V, _Q, _CURVATURE, _SIGMA, _STRESS, _FLIP, _APART, _MORE = (
    LANES * row for row in (0, 9, 18, 27, 36, 39, 42, 45, 51)
)
_N, _WEIGHT, _P, _DISAGREEMENT, _BLOCKS, _CONDENSED = (LANES * row for row in (51, 60, 61, 70, 71, 125))
_DF, _DS, _MULTIPLIER, _BEND, _WORK, _UPDATED = (LANES * row for row in (51, 60, 66, 72, 73, 74))
_BLOCK = 9 * LANES


@inlined
def _share(own, other):
    """``own / (own + other)``, the sum clamped away from zero (inverted elements)."""
    total = own + other
    least = SMALLEST_SUM if total >= 0.0 else -SMALLEST_SUM
    return own / (least if abs(total) < SMALLEST_SUM else total)


@inlined
def _shares(sigma):
    """``sigma_i / (sigma_i + sigma_j)`` in row i, column j."""
    x, y, z = sigma
    return (0.5, _share(x, y), _share(x, z)), (_share(y, x), 0.5, _share(y, z)), (_share(z, x), _share(z, y), 0.5)


@inlined
def _stress_of(A, flip, E):
    """``H_s`` applied to six numbers of a stretch in the frame Q."""
    x, y, z = A
    return dot(x, E), dot(y, E), dot(z, E), flip[0] * E[3], flip[1] * E[4], flip[2] * E[5]


@inlined
def _inner(A, B):
    """``sum_ij A_ij B_ij`` of symmetric matrices as six numbers."""
    return A[0] * B[0] + A[1] * B[1] + A[2] * B[2] + 2.0 * (A[3] * B[3] + A[4] * B[4] + A[5] * B[5])


@inlined
def _with_stress(M, stress):
    return M[0] + stress[0], M[1] + stress[1], M[2] + stress[2], M[3], M[4], M[5]


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


class Turning(IntEnum):
    """Which twists of the constraint's second derivative go into the element matrices: what turns against a tension
    gains energy, against a pressure it loses some. None as in Eq. 14, those of tension, which are semi-definite, or
    all. What else there is of that derivative couples turns with shears, which stiff parts hardly know.
    """

    NOTHING = 0
    TENSION = 1
    ALL = 2


def condense(
    mixed: Mixed, turning: Turning, N: np.ndarray, weights: np.ndarray, masses: np.ndarray, blocks: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Element matrices of ``J^T H_s J`` with mass into blocks (m,10,3,3); returns the stresses ``J^T (g_s + H_s c)``
    (m,3,3), Pa, and ``w c . H_s c`` (m,).

    Weights w (m,) are m³ times h². Twists are those of an s that agrees with F: ``(t_i + t_j) / (sigma_i + sigma_j)``
    with ``t = diag(V^T (dpsi/dS) V)``; tension gives the positive ones.
    """
    m = len(weights)
    P, disagreement = np.empty((m, 3, 3)), np.empty(m)
    _condense(m, *mixed, int(turning), N, weights, masses, blocks, P, disagreement)
    return P, disagreement


def local_update(
    mixed: Mixed, turning: Turning, dF: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """``ds = c + J dF`` (m,6), ``lambda = g_s + H_s ds`` (m,6), ``w ds . H_s ds`` with the work of all turns
    if they were added (m,), and ``w lambda . c`` (m,).
    """
    m = len(dF)
    ds, multiplier, curvature, work = np.empty((m, 6)), np.empty((m, 6)), np.empty(m), np.empty(m)
    _local_update(m, *mixed, int(turning), dF, weights, ds, multiplier, curvature, work)
    return ds, multiplier, curvature, work


@inlined
def _load_mixed(W, lane, e, U, sigma, V, polar, s, Q, stress, A, flip):
    load_matrix(W, _U + lane, U[e])
    load_matrix(W, _V + lane, V[e])
    load_matrix(W, _Q + lane, Q[e])
    load_matrix(W, _CURVATURE + lane, A[e])
    load_vector(W, _SIGMA + lane, sigma[e])
    load_vector(W, _STRESS + lane, stress[e])
    load_vector(W, _FLIP + lane, flip[e])
    for k in range(6):
        W[_APART + LANES * k + lane] = polar[e, k] - s[e, k]


@parallel_kernel
def _condense(
    begin, end, U, sigma, V, polar, s, Q, stress, A, flip, turning, N, weights, masses, blocks, P, disagreement
):
    W = np.empty(_CONDENSED)
    for first in range(begin, end, LANES):
        for lane in range(LANES):
            # Lanes beyond the last element repeat it.
            e = min(first + lane, end - 1)
            _load_mixed(W, lane, e, U, sigma, V, polar, s, Q, stress, A, flip)
            load_matrix(W, _N + lane, N[e, 1:])
            W[_WEIGHT + lane] = weights[e]
        _condense_lanes(W)
        if turning > 0:
            _add_turning(W, turning)
        for e in range(first, min(first + LANES, end)):
            lane = e - first
            disagreement[e] = weights[e] * W[_DISAGREEMENT + lane]
            store_matrix(W, _P + lane, P[e])
            block = _BLOCKS + lane
            for a in range(1, 4):
                for b in range(1, a + 1):
                    store_matrix(W, block, blocks[e, a * (a + 1) // 2 + b])
                    block += _BLOCK
            complete_blocks(masses[e], blocks[e])


@kernel
def _condense_lanes(W):
    """Stress, disagreement and the blocks of corners 2, 3, 4 of all lanes."""
    for lane in range(LANES):
        U, Vt, Q = matrix(W, _U + lane), transposed(matrix(W, _V + lane)), matrix(W, _Q + lane)
        A, flip, stress = matrix(W, _CURVATURE + lane), vector(W, _FLIP + lane), vector(W, _STRESS + lane)
        E = congruent(transposed(Q), six(W, _APART + lane))
        M = _stress_of(A, flip, E)
        W[_DISAGREEMENT + lane] = _inner(E, M)
        T, shares = product(Vt, Q), _shares(vector(W, _SIGMA + lane))
        # Twice the stress in the frame V: V^T Q (diag(stress) + H_s c) Q^T V.
        x, y, z, yz, xz, xy = congruent(T, _with_stress(M, stress))
        G = (2.0 * x, 2.0 * xy, 2.0 * xz), (2.0 * xy, 2.0 * y, 2.0 * yz), (2.0 * xz, 2.0 * yz, 2.0 * z)
        G = each(shares[0], G[0]), each(shares[1], G[1]), each(shares[2], G[2])
        set_matrix(W, _P + lane, product(U, product(G, Vt)))
        # What multiplies the six numbers of a second stretch in w dS . H_s dS.
        w = W[_WEIGHT + lane]
        A = each((w, w, w), A[0]), each((w, w, w), A[1]), each((w, w, w), A[2])
        flip = 2.0 * w * flip[0], 2.0 * w * flip[1], 2.0 * w * flip[2]
        N = matrix(W, _N + lane)
        a = _stretches(U, shares, T, times(Vt, N[0]))
        b = _stretches(U, shares, T, times(Vt, N[1]))
        c = _stretches(U, shares, T, times(Vt, N[2]))
        Ha, Hb, Hc = _stresses(A, flip, a), _stresses(A, flip, b), _stresses(A, flip, c)
        _set_diagonal_block(W, _BLOCKS + lane, a, Ha)
        _set_block(W, _BLOCKS + _BLOCK + lane, b, Ha)
        _set_diagonal_block(W, _BLOCKS + 2 * _BLOCK + lane, b, Hb)
        _set_block(W, _BLOCKS + 3 * _BLOCK + lane, c, Ha)
        _set_block(W, _BLOCKS + 4 * _BLOCK + lane, c, Hb)
        _set_diagonal_block(W, _BLOCKS + 5 * _BLOCK + lane, c, Hc)


@inlined
def _stretches(U, shares, T, n):
    """Stretches E of a corner with ``n = V^T N`` that moves along x, y and z."""
    along = _stretch(shares[0], T[0], T, n), _stretch(shares[1], T[1], T, n), _stretch(shares[2], T[2], T, n)
    return combine_six(U[0], along), combine_six(U[1], along), combine_six(U[2], along)


@inlined
def _stretch(share, t, T, n):
    m = combine(each(share, n), T)
    return (
        2.0 * t[0] * m[0],
        2.0 * t[1] * m[1],
        2.0 * t[2] * m[2],
        t[1] * m[2] + t[2] * m[1],
        t[0] * m[2] + t[2] * m[0],
        t[0] * m[1] + t[1] * m[0],
    )


@inlined
def _stresses(A, flip, E):
    return _stress_of(A, flip, E[0]), _stress_of(A, flip, E[1]), _stress_of(A, flip, E[2])


@inlined
def _set_block(W, place, E, H):
    x, y, z = E
    set_vector(W, place, (dot_six(x, H[0]), dot_six(x, H[1]), dot_six(x, H[2])))
    set_vector(W, place + 3 * LANES, (dot_six(y, H[0]), dot_six(y, H[1]), dot_six(y, H[2])))
    set_vector(W, place + 6 * LANES, (dot_six(z, H[0]), dot_six(z, H[1]), dot_six(z, H[2])))


@inlined
def _set_diagonal_block(W, place, E, H):
    x, y, z = E
    xy, xz, yz = dot_six(x, H[1]), dot_six(x, H[2]), dot_six(y, H[2])
    set_vector(W, place, (dot_six(x, H[0]), xy, xz))
    set_vector(W, place + 3 * LANES, (xy, dot_six(y, H[1]), yz))
    set_vector(W, place + 6 * LANES, (xz, yz, dot_six(z, H[2])))


@inlined
def _twists(Vt, Q, sigma, stress, turning):
    """Twists about the three axes, Pa; of the positive ones alone, or of all."""
    least = -1e300 if turning > 1 else 0.0
    x, y, z = product(Vt, Q)
    t, u, v = dot(each(x, x), stress), dot(each(y, y), stress), dot(each(z, z), stress)
    return (
        max((u + v) / max(sigma[1] + sigma[2], SMALLEST_SUM), least),
        max((t + v) / max(sigma[0] + sigma[2], SMALLEST_SUM), least),
        max((t + u) / max(sigma[0] + sigma[1], SMALLEST_SUM), least),
    )


@kernel
def _add_turning(W, turning):
    """What twists add to the blocks of all lanes: ``w/2 twist_k`` times the turns ``D_ij - D_ji``, squared."""
    for lane in range(LANES):
        U, Vt = matrix(W, _U + lane), transposed(matrix(W, _V + lane))
        sigma, N = vector(W, _SIGMA + lane), matrix(W, _N + lane)
        twists = _twists(Vt, matrix(W, _Q + lane), sigma, vector(W, _STRESS + lane), turning)
        w = 0.5 * W[_WEIGHT + lane]
        pull = each((w, w, w), twists)
        a, b, c = _turns(U, times(Vt, N[0])), _turns(U, times(Vt, N[1])), _turns(U, times(Vt, N[2]))
        Ta, Tb, Tc = _pulled(pull, a), _pulled(pull, b), _pulled(pull, c)
        _add_block(W, _BLOCKS + lane, a, Ta)
        _add_block(W, _BLOCKS + _BLOCK + lane, b, Ta)
        _add_block(W, _BLOCKS + 2 * _BLOCK + lane, b, Tb)
        _add_block(W, _BLOCKS + 3 * _BLOCK + lane, c, Ta)
        _add_block(W, _BLOCKS + 4 * _BLOCK + lane, c, Tb)
        _add_block(W, _BLOCKS + 5 * _BLOCK + lane, c, Tc)


@inlined
def _turns(U, n):
    """``D_ij - D_ji`` of a corner that moves along x, y and z, up to the sign."""
    return cross(U[0], n), cross(U[1], n), cross(U[2], n)


@inlined
def _pulled(pull, turns):
    return each(pull, turns[0]), each(pull, turns[1]), each(pull, turns[2])


@inlined
def _add_block(W, place, A, B):
    """Add ``A B^T``."""
    x, y, z = matrix(W, place)
    u, v, w = times(B, A[0]), times(B, A[1]), times(B, A[2])
    set_vector(W, place, (x[0] + u[0], x[1] + u[1], x[2] + u[2]))
    set_vector(W, place + 3 * LANES, (y[0] + v[0], y[1] + v[1], y[2] + v[2]))
    set_vector(W, place + 6 * LANES, (z[0] + w[0], z[1] + w[1], z[2] + w[2]))


@parallel_kernel
def _local_update(
    begin, end, U, sigma, V, polar, s, Q, stress, A, flip, turning, dF, weights, ds, multiplier, curvature, work
):
    W = np.empty(_UPDATED)
    for first in range(begin, end, LANES):
        for lane in range(LANES):
            e = min(first + lane, end - 1)
            _load_mixed(W, lane, e, U, sigma, V, polar, s, Q, stress, A, flip)
            load_matrix(W, _DF + lane, dF[e])
        _update_lanes(W)
        if turning > 1:
            _add_work_of_turns(W)
        for e in range(first, min(first + LANES, end)):
            lane = e - first
            store(W, _DS + lane, ds[e])
            store(W, _MULTIPLIER + lane, multiplier[e])
            curvature[e], work[e] = weights[e] * W[_BEND + lane], weights[e] * W[_WORK + lane]


@kernel
def _update_lanes(W):
    for lane in range(LANES):
        V, Q, apart = matrix(W, _V + lane), matrix(W, _Q + lane), six(W, _APART + lane)
        x, y, z = product(product(transposed(matrix(W, _U + lane)), matrix(W, _DF + lane)), V)
        a, b, c = _shares(vector(W, _SIGMA + lane))
        # V^T dS V
        S = x[0], y[1], z[2], b[2] * y[2] + c[1] * z[1], a[2] * x[2] + c[0] * z[0], a[1] * x[1] + b[0] * y[0]
        ds = plus_six(apart, congruent(V, S))
        E = congruent(transposed(Q), ds)
        M = _stress_of(matrix(W, _CURVATURE + lane), vector(W, _FLIP + lane), E)
        W[_BEND + lane] = _inner(E, M)
        g = congruent(Q, _with_stress(M, vector(W, _STRESS + lane)))
        g = g[0], g[1], g[2], 2.0 * g[3], 2.0 * g[4], 2.0 * g[5]
        set_six(W, _DS + lane, ds)
        set_six(W, _MULTIPLIER + lane, g)
        W[_WORK + lane] = dot_six(g, apart)


@kernel
def _add_work_of_turns(W):
    """Of all the turns that the local update makes, to its curvature."""
    for lane in range(LANES):
        V, sigma = matrix(W, _V + lane), vector(W, _SIGMA + lane)
        x, y, z = product(product(transposed(matrix(W, _U + lane)), matrix(W, _DF + lane)), V)
        twists = _twists(transposed(V), matrix(W, _Q + lane), sigma, vector(W, _STRESS + lane), 2)
        turns = y[2] - z[1], z[0] - x[2], x[1] - y[0]
        W[_BEND + lane] += 0.5 * dot(twists, each(turns, turns))
