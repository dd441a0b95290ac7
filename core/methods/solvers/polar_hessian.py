"""Kernels for the second derivative of the polar stretch S, which [MFEM22] drops (Eq. 14).

The kernels contract the derivative with a stress T. They add the contraction ``T : d²S`` to the second derivatives of
the elements' energies by the deformation gradient F. From these second derivatives the matrix of Mixed FEM is
assembled. The SVD is ``F = U diag(sigma) V^T``. Differentiating ``S² = F^T F`` twice gives, in the frame V and with ``D
= U^T dF V``,

    T : d²S = T' : (D^T D - dS dS),        T'_ij = 2 T_ij / (sigma_i + sigma_j)

In the frame V, T is diagonal if it is the stress of an isotropic energy at the polar stretch itself. For a diagonal T
with the entries t_i, the contraction ``T : d²S`` is approximated by twists alone. A twist is the coefficient ``(t_i +
t_j) / (sigma_i + sigma_j)`` of ``(D_ij - D_ji)² / 2``, which is the square of a rotation. The terms of the twists do
not couple the rotations with the shears ``D_ij + D_ji``.
"""

from __future__ import annotations

from enum import IntEnum

from ...foundation.kernels.jit import inlined, inner_kernel
from ...foundation.kernels.simd_math import (
    LANES,
    cross,
    dot,
    each,
    matrix,
    product,
    set_vector,
    six,
    times,
    transposed,
    vector,
)
from ...foundation.kernels.small_matrix import SMALLEST_SUM
from . import condensation_layout as at


class PolarHessianTerms(IntEnum):
    """Terms of the polar stretch's second derivative that are added to the matrix of Mixed FEM.

    Twists are the terms of rotations of the element: a rotation costs energy under tension, and releases energy under
    pressure. NOTHING adds no terms ([MFEM22] Eq. 14). TENSION adds the positive twists, which are semi-definite. ALL
    adds all twists. EXACT adds the complete second derivative, for the stress linearized about the independent stretch.
    The terms that only EXACT adds couple rotations with shears, and are small in stiff parts.
    """

    NOTHING = 0
    TENSION = 1
    ALL = 2
    EXACT = 3


@inlined
def _share(own, other):
    """Return ``own / (own + other)`` for two singular values, with the sum clamped away from zero."""
    total = own + other
    least = SMALLEST_SUM if total >= 0.0 else -SMALLEST_SUM
    return own / (least if abs(total) < SMALLEST_SUM else total)


@inlined
def shares_of(sigma):
    """Return the ratios ``sigma_i / (sigma_i + sigma_j)`` of the singular values ``sigma`` (3,), as a matrix (3,3)."""
    x, y, z = sigma
    return (0.5, _share(x, y), _share(x, z)), (_share(y, x), 0.5, _share(y, z)), (_share(z, x), _share(z, y), 0.5)


@inlined
def twists_of(Vt, Q, sigma, stress, terms):
    """Return the twists about the three axes of V, Pa.

    A twist is the stiffness of the element against a rotation: the coefficient of ``(D_ij - D_ji)² / 2`` in the second
    variation of the energy density, with ``D = U^T dF V`` and the SVD ``F = U diag(sigma) V^T``. Negative twists are
    set to zero, unless ``terms`` is ALL or EXACT. ``stress`` (3,): principal stresses at the independent stretch. The
    columns of Q are the eigenvectors of the independent stretch.
    """
    least = -1e300 if terms > 1 else 0.0
    x, y, z = product(Vt, Q)
    t, u, v = dot(each(x, x), stress), dot(each(y, y), stress), dot(each(z, z), stress)
    return (
        max((u + v) / max(sigma[1] + sigma[2], SMALLEST_SUM), least),
        max((t + v) / max(sigma[0] + sigma[2], SMALLEST_SUM), least),
        max((t + u) / max(sigma[0] + sigma[1], SMALLEST_SUM), least),
    )


@inner_kernel
def add_twists(W, terms):
    """Add the twist terms of the elements in the workspace W to their second derivatives.

    Twists are the stiffnesses of an element against rotations (:func:`twists_of`). The terms add ``w/2 sum_k twist_k
    r_k²`` to the quadratic form of a change dF of the deformation gradient F, with the element's weight w. The rotation
    about axis k is ``r_k = D_ij - D_ji``, where i and j are the other two axes. D is ``U^T dF V`` for the SVD ``F = U
    diag(sigma) V^T``. ``terms``: a PolarHessianTerms.
    """
    for lane in range(LANES):
        U, Vt = matrix(W, at.U + lane), transposed(matrix(W, at.V + lane))
        sigma, (x, y, z) = vector(W, at.SIGMA + lane), transposed(Vt)
        twists = twists_of(Vt, matrix(W, at.Q + lane), sigma, vector(W, at.STRESS + lane), terms)
        w = 0.5 * W[at.WEIGHT + lane]
        pull = each((w, w, w), twists)
        a, b, c = _turns(U, x), _turns(U, y), _turns(U, z)
        Ta, Tb, Tc = _pulled(pull, a), _pulled(pull, b), _pulled(pull, c)
        _add_block(W, at.BLOCKS + lane, a, Ta)
        _add_block(W, at.BLOCKS + at.A_BLOCK + lane, b, Ta)
        _add_block(W, at.BLOCKS + 2 * at.A_BLOCK + lane, b, Tb)
        _add_block(W, at.BLOCKS + 3 * at.A_BLOCK + lane, c, Ta)
        _add_block(W, at.BLOCKS + 4 * at.A_BLOCK + lane, c, Tb)
        _add_block(W, at.BLOCKS + 5 * at.A_BLOCK + lane, c, Tc)


@inner_kernel
def add_polar_hessian(W):
    """Add the complete second derivative of the polar stretch to the second derivatives of the elements in W.

    W is the workspace. The derivative is contracted with the condensed stress of the element. Let F be the deformation
    gradient with the SVD ``F = U diag(sigma) V^T``. If column a of F changes along column p of U, then ``D = U^T dF V =
    e_p n^T``, where n is row a of V. In the frame V, the stretch then changes by ``dS = e_p m^T + m e_p^T``. Here m is
    the product, entry by entry, of n and the ratios ``sigma_p / (sigma_p + sigma_j)``.
    """
    for lane in range(LANES):
        U, (x, y, z) = matrix(W, at.U + lane), matrix(W, at.V + lane)
        sigma = vector(W, at.SIGMA + lane)
        T = _over_sums(six(W, at.TENSION + lane), sigma, W[at.WEIGHT + lane])
        shares = shares_of(sigma)
        a, b, c = _parts(T, shares, x), _parts(T, shares, y), _parts(T, shares, z)
        _add_bend(W, at.BLOCKS + lane, U, T, a, a)
        _add_bend(W, at.BLOCKS + at.A_BLOCK + lane, U, T, b, a)
        _add_bend(W, at.BLOCKS + 2 * at.A_BLOCK + lane, U, T, b, b)
        _add_bend(W, at.BLOCKS + 3 * at.A_BLOCK + lane, U, T, c, a)
        _add_bend(W, at.BLOCKS + 4 * at.A_BLOCK + lane, U, T, c, b)
        _add_bend(W, at.BLOCKS + 5 * at.A_BLOCK + lane, U, T, c, c)


@inlined
def _over_sums(t, sigma, weight):
    """Return the matrix (3,3) with the entries ``2 weight T_ij / (sigma_i + sigma_j)``.

    T is a symmetric stress, six numbers ``t``. ``sigma`` (3,): singular values of the deformation gradient. The result
    is zero for a flat or inverted element, where the polar stretch is not a smooth function.
    """
    w = 2.0 * weight if sigma[2] > SMALLEST_SUM else 0.0
    x, y, z = max(sigma[0], SMALLEST_SUM), max(sigma[1], SMALLEST_SUM), max(sigma[2], SMALLEST_SUM)
    yz, xz, xy = w * t[3] / (y + z), w * t[4] / (x + z), w * t[5] / (x + y)
    return (0.5 * w * t[0] / x, xy, xz), (xy, 0.5 * w * t[1] / y, yz), (xz, yz, 0.5 * w * t[2] / z)


@inlined
def _parts(T, shares, n):
    """Return the vectors for the second derivatives by column a of the deformation gradient F.

    The vectors are n, ``T n``, three ``m_p``, and three ``T m_p``. n is row a of V in the SVD ``F = U diag(sigma)
    V^T``. ``m_p`` is the product, entry by entry, of n and row p of ``shares``, the ratios ``sigma_i / (sigma_i +
    sigma_j)``. T (3,3) is the result of :func:`_over_sums`.
    """
    x, y, z = each(shares[0], n), each(shares[1], n), each(shares[2], n)
    return n, times(T, n), x, y, z, times(T, x), times(T, y), times(T, z)


@inlined
def _add_bend(W, row, U, T, a, b):
    n, _, x, y, z, tx, ty, tz = a
    _, tn, u, v, w, tu, tv, tw = b
    whole = dot(n, tn)
    K = (
        (
            whole - dot(x, tu) - x[0] * tu[0] - dot(x, u) * T[0][0] - u[0] * tx[0],
            -(x[1] * tv[0] + dot(x, v) * T[0][1] + v[0] * tx[1]),
            -(x[2] * tw[0] + dot(x, w) * T[0][2] + w[0] * tx[2]),
        ),
        (
            -(y[0] * tu[1] + dot(y, u) * T[1][0] + u[1] * ty[0]),
            whole - dot(y, tv) - y[1] * tv[1] - dot(y, v) * T[1][1] - v[1] * ty[1],
            -(y[2] * tw[1] + dot(y, w) * T[1][2] + w[1] * ty[2]),
        ),
        (
            -(z[0] * tu[2] + dot(z, u) * T[2][0] + u[2] * tz[0]),
            -(z[1] * tv[2] + dot(z, v) * T[2][1] + v[2] * tz[1]),
            whole - dot(z, tw) - z[2] * tw[2] - dot(z, w) * T[2][2] - w[2] * tz[2],
        ),
    )
    _add_block(W, row, product(U, K), U)


@inlined
def _turns(U, n):
    """Return the rotations of an element due to unit changes in column a of the deformation gradient F.

    The three results belong to the components x, y, z of the column. Each result holds the three rotations ``D_ij -
    D_ji`` up to their sign, with ``D = U^T dF V`` and the SVD ``F = U diag(sigma) V^T``. n (3,) is row a of V.
    """
    return cross(U[0], n), cross(U[1], n), cross(U[2], n)


@inlined
def _pulled(pull, turns):
    return each(pull, turns[0]), each(pull, turns[1]), each(pull, turns[2])


@inlined
def _add_block(W, row, A, B):
    """Add ``A B^T`` to the 3 x 3 block at the offset ``row`` of the workspace W."""
    x, y, z = matrix(W, row)
    u, v, w = times(B, A[0]), times(B, A[1]), times(B, A[2])
    set_vector(W, row, (x[0] + u[0], x[1] + u[1], x[2] + u[2]))
    set_vector(W, row + 3 * LANES, (y[0] + v[0], y[1] + v[1], y[2] + v[2]))
    set_vector(W, row + 6 * LANES, (z[0] + w[0], z[1] + w[1], z[2] + w[2]))
