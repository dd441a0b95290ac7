"""Static condensation of Mixed FEM, element by element ([MFEM22] Eqs. 15, 19, 20).

Condensation eliminates the independent stretches from the linear system. Changes of the deformation gradient ``F = U
diag(sigma) V^T`` are expressed in the frame of its singular vectors, ``D = U^T dF V``. In this frame the derivative of
the polar stretch S is sparse:

    (V^T dS V)_ii = D_ii,      (V^T dS V)_ij = (sigma_i D_ij + sigma_j D_ji) / (sigma_i + sigma_j)

(from ``dF = d(R S)``). H_s is the second derivative of the energy density by the independent stretch. H_s is known in
the frame Q of the independent stretch's eigenvectors, and ``T = V^T Q`` maps between the frames V and Q. A unit change
of the entry ``F_ia`` is ``dF = e_i e_a^T``. Then ``D = u n^T``, where u is row i of U, and n is row a of V. D is linear
in u, so it suffices to know the stretch changes for the three unit vectors ``u = e_p``. For ``D = e_p n^T`` the stretch
change in the frame Q is

    t_p m^T + m t_p^T,      m = T^T (shares_p n)

where ``t_p`` is row p of T. ``shares_p`` is the vector of the three ratios ``sigma_p / (sigma_p + sigma_j)`` (one half
for j = p), and is multiplied by n entry by entry.

The second derivative of the energy density by F is ``E^T H_s E``. The nine columns of the matrix E (6,9) are the
stretch changes for unit changes of the nine entries of F. Kernels process eight elements side by side.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...foundation.kernels.jit import inlined, inner_kernel, parallel_kernel
from ...foundation.kernels.simd_math import (
    LANES,
    combine,
    combine_six,
    congruent,
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
    transposed,
    vector,
)
from ...mechanics.assembly.sparsity import NONE
from . import condensation_layout as at
from .polar_hessian import PolarHessianTerms, add_polar_hessian, add_twists, shares_of, twists_of


@inlined
def _stress_of(A, flip, E):
    """Return ``H_s E`` for a symmetric tensor E, six numbers in the frame of the stretch's eigenvectors.

    H_s is the second derivative of the energy density by the stretch: a normal part A (3,3) and a shear part ``flip``
    (3,).
    """
    x, y, z = A
    return dot(x, E), dot(y, E), dot(z, E), flip[0] * E[3], flip[1] * E[4], flip[2] * E[5]


@inlined
def _inner(A, B):
    """Return the product ``sum_ij A_ij B_ij`` of two symmetric tensors, six numbers each."""
    return A[0] * B[0] + A[1] * B[1] + A[2] * B[2] + 2.0 * (A[3] * B[3] + A[4] * B[4] + A[5] * B[5])


@inlined
def _with_stress(M, stress):
    return M[0] + stress[0], M[1] + stress[1], M[2] + stress[2], M[3], M[4], M[5]


class Mixed(NamedTuple):
    """Linearization point of Mixed FEM per element.

    U (m,3,3), ``sigma`` (m,3), V (m,3,3): SVD of the deformation gradient F. ``polar`` (m,6): polar stretch of F. ``s``
    (m,6): independent stretch, with eigenvectors Q (m,3,3). ``stress`` (m,3), Pa: principal stresses at s, the first
    derivatives of the energy density psi. ``curvature`` (m,3,3), Pa: second derivatives of psi at s by the three normal
    strains in the frame Q. ``flip`` (m,3), Pa: second derivatives of psi at s by the three shear strains in the frame
    Q.
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

    def of(self, elements: np.ndarray) -> Mixed:
        """Return the linearization point of some ``elements`` (k,), by index."""
        return Mixed(*(each[elements] for each in self))


def condense(
    mixed: Mixed, terms: PolarHessianTerms, weights: np.ndarray, hessians: np.ndarray, rigid: np.ndarray = NONE
) -> tuple[np.ndarray, np.ndarray]:
    """Eliminate the independent stretches of Mixed FEM from the linear system, element by element.

    The second derivatives ``w J^T H_s J`` are written to ``hessians`` (m,6,3,3), as blocks by the columns of the
    deformation gradient F in the order of ``tangent_blocks``. Return the condensed stresses ``J^T (g_s + H_s c)``
    (m,3,3), Pa, and the energies ``w c . H_s c`` (m,) of the disagreement ``c = s(F) - s``.

    s is the independent stretch, s(F) the polar stretch of F, and J the derivative of s(F) by F. g_s and H_s are the
    first and second derivatives of the energy density psi at s. ``weights`` w (m,), m³ s²: volumes times the squared
    step.

    ``terms`` selects the second derivatives of s(F) that are added to ``hessians``. To the elements ``rigid`` (k,) ALL
    are added. Among these terms are the twists, which are the stiffnesses of an element against rotations about the
    axes of V in the SVD ``F = U diag(sigma) V^T``. A twist is ``(t_i + t_j) / (sigma_i + sigma_j)`` with ``t = diag(V^T
    (dpsi/ds) V)``, and is positive under tension. The formula assumes that s equals s(F).
    """
    m = len(weights)
    P, disagreement = np.empty((m, 3, 3)), np.empty(m)
    of_elements = weights, hessians, P, disagreement
    if terms == PolarHessianTerms.EXACT:
        _condense_exactly(m, *mixed, *of_elements)
    else:
        _condense(m, *mixed, int(terms), *of_elements)
    if len(rigid):
        blocks = np.empty((len(rigid), *hessians.shape[1:]))
        condense(mixed.of(rigid), PolarHessianTerms.ALL, weights[rigid], blocks)
        hessians[rigid] = blocks
    return P, disagreement


def local_update(
    mixed: Mixed, terms: PolarHessianTerms, dF: np.ndarray, weights: np.ndarray, rigid: np.ndarray = NONE
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Compute the changes of the unknowns that condensation eliminated.

    ``dF`` (m,3,3): changes of the deformation gradients F. ``weights`` w (m,), m³ s²: volumes times the squared step.
    Return four arrays:

    1. the changes of the independent stretches, ``ds = c + J dF`` (m,6);
    2. the new multipliers, ``lambda = g_s + H_s ds`` (m,6), Pa;
    3. ``w ds . H_s ds`` (m,), part of the line search's predicted decrease;
    4. ``w lambda . c`` (m,), part of the line search's merit.

    c is the polar stretch s(F) minus the independent stretch s, and J is the derivative of s(F) by F. g_s and H_s are
    the first and second derivatives of the energy density at s.

    If ``terms`` is ALL or EXACT, and for the elements ``rigid`` (k,), the third array also contains the work ``w/2
    sum_k twist_k r_k²`` of an element's rotation. The rotations r_k are the three differences ``D_ij - D_ji`` with ``D
    = U^T dF V`` and the SVD ``F = U diag(sigma) V^T``. The twists, Pa, are the stiffnesses of the element against these
    rotations.
    """
    m = len(dF)
    ds, multiplier, curvature, work = np.empty((m, 6)), np.empty((m, 6)), np.empty(m), np.empty(m)
    _local_update(m, *mixed, int(terms), dF, weights, ds, multiplier, curvature, work)
    if len(rigid):
        curvature[rigid] = local_update(mixed.of(rigid), PolarHessianTerms.ALL, dF[rigid], weights[rigid])[2]
    return ds, multiplier, curvature, work


def condensed_stress(mixed: Mixed, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the two arrays of :func:`condense` without computing element matrices.

    The first array holds the condensed stresses (m,3,3), Pa. The second array holds the energies (m,) of the difference
    between polar and independent stretch. ``weights`` (m,): factors of the energies.
    """
    m = len(weights)
    P, disagreement = np.empty((m, 3, 3)), np.empty(m)
    _condensed_stress(m, *mixed, weights, P, disagreement)
    return P, disagreement


@inlined
def _load_mixed(W, lane, e, U, sigma, V, polar, s, Q, stress, A, flip):
    load_matrix(W, at.U + lane, U[e])
    load_matrix(W, at.V + lane, V[e])
    load_matrix(W, at.Q + lane, Q[e])
    load_matrix(W, at.CURVATURE + lane, A[e])
    load_vector(W, at.SIGMA + lane, sigma[e])
    load_vector(W, at.STRESS + lane, stress[e])
    load_vector(W, at.FLIP + lane, flip[e])
    for k in range(6):
        W[at.APART + LANES * k + lane] = polar[e, k] - s[e, k]


@inner_kernel
def _load_elements(W, first, end, U, sigma, V, polar, s, Q, stress, A, flip, weights):
    for lane in range(LANES):
        # Lanes beyond the last element repeat it.
        e = min(first + lane, end - 1)
        _load_mixed(W, lane, e, U, sigma, V, polar, s, Q, stress, A, flip)
        W[at.WEIGHT + lane] = weights[e]


@inner_kernel
def _store_elements(W, first, end, weights, hessians, P, disagreement):
    for e in range(first, min(first + LANES, end)):
        lane = e - first
        disagreement[e] = weights[e] * W[at.DISAGREEMENT + lane]
        store_matrix(W, at.P + lane, P[e])
        block = at.BLOCKS + lane
        for pair in range(6):
            store_matrix(W, block, hessians[e, pair])
            block += at.A_BLOCK


@parallel_kernel
def _condense(begin, end, U, sigma, V, polar, s, Q, stress, A, flip, terms, weights, hessians, P, disagreement):
    W = np.empty(at.CONDENSED)
    for first in range(begin, end, LANES):
        _load_elements(W, first, end, U, sigma, V, polar, s, Q, stress, A, flip, weights)
        _condense_lanes(W)
        if terms > 0:
            add_twists(W, terms)
        _store_elements(W, first, end, weights, hessians, P, disagreement)


@parallel_kernel
def _condense_exactly(begin, end, U, sigma, V, polar, s, Q, stress, A, flip, weights, hessians, P, disagreement):
    """Condense with the complete second derivative of the polar stretch.

    Few bodies need this kernel. A separate kernel saves other bodies the compilation.
    """
    W = np.empty(at.CONDENSED)
    for first in range(begin, end, LANES):
        _load_elements(W, first, end, U, sigma, V, polar, s, Q, stress, A, flip, weights)
        _condense_lanes(W)
        add_polar_hessian(W)
        _store_elements(W, first, end, weights, hessians, P, disagreement)


@parallel_kernel
def _condensed_stress(begin, end, U, sigma, V, polar, s, Q, stress, A, flip, weights, P, disagreement):
    W = np.empty(at.CONDENSED)
    for first in range(begin, end, LANES):
        for lane in range(LANES):
            _load_mixed(W, lane, min(first + lane, end - 1), U, sigma, V, polar, s, Q, stress, A, flip)
        _stress_lanes(W)
        for e in range(first, min(first + LANES, end)):
            disagreement[e] = weights[e] * W[at.DISAGREEMENT + e - first]
            store_matrix(W, at.P + e - first, P[e])


@inner_kernel
def _stress_lanes(W):
    for lane in range(LANES):
        _set_stress(W, lane, matrix(W, at.U + lane), transposed(matrix(W, at.V + lane)))


@inlined
def _set_stress(W, lane, U, Vt):
    """Compute the condensed stress ``J^T (g_s + H_s c)`` of the element in one ``lane`` of the workspace W.

    Write three quantities to W: the condensed stress, the stress ``g_s + H_s c`` in the frame V, and the energy density
    ``c . H_s c``. Return four quantities: the shares ``sigma_i / (sigma_i + sigma_j)``, the matrix ``T = Vt Q``, and
    the normal and the shear part of H_s in the frame Q.

    U and Vt are factors of the SVD ``F = U diag(sigma) Vt`` of the deformation gradient. c is the polar stretch s(F)
    minus the independent stretch s. The columns of Q are the eigenvectors of s. J is the derivative of s(F) by F. g_s
    and H_s are the first and second derivatives of the energy density at s.
    """
    Q = matrix(W, at.Q + lane)
    A, flip, stress = matrix(W, at.CURVATURE + lane), vector(W, at.FLIP + lane), vector(W, at.STRESS + lane)
    E = congruent(transposed(Q), six(W, at.APART + lane))
    M = _stress_of(A, flip, E)
    W[at.DISAGREEMENT + lane] = _inner(E, M)
    T, shares = product(Vt, Q), shares_of(vector(W, at.SIGMA + lane))
    # Stress in the frame V: V^T Q (diag(stress) + H_s c) Q^T V.
    tension = congruent(T, _with_stress(M, stress))
    set_six(W, at.TENSION + lane, tension)
    x, y, z, yz, xz, xy = tension
    G = (2.0 * x, 2.0 * xy, 2.0 * xz), (2.0 * xy, 2.0 * y, 2.0 * yz), (2.0 * xz, 2.0 * yz, 2.0 * z)
    G = each(shares[0], G[0]), each(shares[1], G[1]), each(shares[2], G[2])
    set_matrix(W, at.P + lane, product(U, product(G, Vt)))
    return shares, T, A, flip


@inner_kernel
def _condense_lanes(W):
    """Compute the condensed stress, energy density and second derivatives of the elements in the workspace W."""
    for lane in range(LANES):
        U, Vt = matrix(W, at.U + lane), transposed(matrix(W, at.V + lane))
        shares, T, A, flip = _set_stress(W, lane, U, Vt)
        # Scale H_s by the weight. Shear entries count twice in w dS . H_s dS.
        w = W[at.WEIGHT + lane]
        A = each((w, w, w), A[0]), each((w, w, w), A[1]), each((w, w, w), A[2])
        flip = 2.0 * w * flip[0], 2.0 * w * flip[1], 2.0 * w * flip[2]
        x, y, z = transposed(Vt)
        a, b, c = _stretches(U, shares, T, x), _stretches(U, shares, T, y), _stretches(U, shares, T, z)
        Ha, Hb, Hc = _stresses(A, flip, a), _stresses(A, flip, b), _stresses(A, flip, c)
        _set_diagonal_block(W, at.BLOCKS + lane, a, Ha)
        _set_block(W, at.BLOCKS + at.A_BLOCK + lane, b, Ha)
        _set_diagonal_block(W, at.BLOCKS + 2 * at.A_BLOCK + lane, b, Hb)
        _set_block(W, at.BLOCKS + 3 * at.A_BLOCK + lane, c, Ha)
        _set_block(W, at.BLOCKS + 4 * at.A_BLOCK + lane, c, Hb)
        _set_diagonal_block(W, at.BLOCKS + 5 * at.A_BLOCK + lane, c, Hc)


@inlined
def _stretches(U, shares, T, n):
    """Return the changes of the polar stretch due to unit changes in column a of the deformation gradient F.

    The three results belong to the components x, y, z of the column. Each result is a symmetric tensor, six numbers in
    the frame Q of the independent stretch's eigenvectors. n (3,) is row a of V in the SVD ``F = U diag(sigma) V^T``.
    ``shares`` (3,3): the ratios ``sigma_i / (sigma_i + sigma_j)``. T (3,3): ``V^T Q``.
    """
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
def _set_block(W, row, E, H):
    x, y, z = E
    set_vector(W, row, (dot_six(x, H[0]), dot_six(x, H[1]), dot_six(x, H[2])))
    set_vector(W, row + 3 * LANES, (dot_six(y, H[0]), dot_six(y, H[1]), dot_six(y, H[2])))
    set_vector(W, row + 6 * LANES, (dot_six(z, H[0]), dot_six(z, H[1]), dot_six(z, H[2])))


@inlined
def _set_diagonal_block(W, row, E, H):
    x, y, z = E
    xy, xz, yz = dot_six(x, H[1]), dot_six(x, H[2]), dot_six(y, H[2])
    set_vector(W, row, (dot_six(x, H[0]), xy, xz))
    set_vector(W, row + 3 * LANES, (xy, dot_six(y, H[1]), yz))
    set_vector(W, row + 6 * LANES, (xz, yz, dot_six(z, H[2])))


@parallel_kernel
def _local_update(
    begin, end, U, sigma, V, polar, s, Q, stress, A, flip, terms, dF, weights, ds, multiplier, curvature, work
):
    W = np.empty(at.UPDATED)
    for first in range(begin, end, LANES):
        for lane in range(LANES):
            e = min(first + lane, end - 1)
            _load_mixed(W, lane, e, U, sigma, V, polar, s, Q, stress, A, flip)
            load_matrix(W, at.DF + lane, dF[e])
        _update_lanes(W)
        if terms > 1:
            _add_work_of_turns(W)
        for e in range(first, min(first + LANES, end)):
            lane = e - first
            store(W, at.DS + lane, ds[e])
            store(W, at.MULTIPLIER + lane, multiplier[e])
            curvature[e], work[e] = weights[e] * W[at.BEND + lane], weights[e] * W[at.WORK + lane]


@inner_kernel
def _update_lanes(W):
    for lane in range(LANES):
        V, Q, apart = matrix(W, at.V + lane), matrix(W, at.Q + lane), six(W, at.APART + lane)
        x, y, z = product(product(transposed(matrix(W, at.U + lane)), matrix(W, at.DF + lane)), V)
        a, b, c = shares_of(vector(W, at.SIGMA + lane))
        # V^T dS V
        S = x[0], y[1], z[2], b[2] * y[2] + c[1] * z[1], a[2] * x[2] + c[0] * z[0], a[1] * x[1] + b[0] * y[0]
        ds = plus_six(apart, congruent(V, S))
        E = congruent(transposed(Q), ds)
        M = _stress_of(matrix(W, at.CURVATURE + lane), vector(W, at.FLIP + lane), E)
        W[at.BEND + lane] = _inner(E, M)
        g = congruent(Q, _with_stress(M, vector(W, at.STRESS + lane)))
        g = g[0], g[1], g[2], 2.0 * g[3], 2.0 * g[4], 2.0 * g[5]
        set_six(W, at.DS + lane, ds)
        set_six(W, at.MULTIPLIER + lane, g)
        W[at.WORK + lane] = dot_six(g, apart)


@inner_kernel
def _add_work_of_turns(W):
    """Add the work ``1/2 sum_k twist_k r_k²`` of an element's rotation to the row BEND of the workspace W.

    The rotations r_k are the three differences ``D_ij - D_ji`` with ``D = U^T dF V`` and the SVD ``F = U diag(sigma)
    V^T`` of the deformation gradient. The twists, Pa, are the stiffnesses of the element against these rotations.
    """
    for lane in range(LANES):
        V, sigma = matrix(W, at.V + lane), vector(W, at.SIGMA + lane)
        x, y, z = product(product(transposed(matrix(W, at.U + lane)), matrix(W, at.DF + lane)), V)
        twists = twists_of(transposed(V), matrix(W, at.Q + lane), sigma, vector(W, at.STRESS + lane), 2)
        turns = y[2] - z[1], z[0] - x[2], x[1] - y[0]
        W[at.BEND + lane] += 0.5 * dot(twists, each(turns, turns))
