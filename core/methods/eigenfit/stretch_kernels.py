"""Kernels for stresses T that act on the polar stretch S of the deformation gradient F.

The stresses are fixed in the material's frame. With ``F = U diag(sigma) V^T`` and ``D = U^T dF V`` the polar stretch
changes, in the frame V, by

    dS_ij = (sigma_i D_ij + sigma_j D_ji) / (sigma_i + sigma_j)

so that ``T : S(F)`` has the derivative ``U (2 sigma_i / (sigma_i + sigma_j) T'_ij) V^T`` by F, with ``T' = V^T T V``.

A symmetric tensor has six entries: 11, 22, 33, 23, 13, 12. In derivatives the last three are doubled, since each stands
for two entries.
"""

from __future__ import annotations

import numpy as np

from ...foundation.kernels.jit import parallel_kernel
from ...foundation.kernels.small_matrix import SMALLEST_SUM, into_frame, out_of_frame, polar_stretch

LEAST = 1e-12
"""Energy density that is added to both sides of the quotient ``psi / psi_2``, divided by twice the shear modulus.

psi is the elastic energy density, and psi_2 its quadratic approximation. Without the addition, round-off would dominate
the quotient at strains below about 1e-6.
"""


@parallel_kernel
def fill_stress(begin, end, U, sigma, V, T, out):
    """Fill ``out`` (m,3,3) with the derivative of ``T : S(F)`` by the deformation gradient F, per element.

    S is the polar stretch of ``F = U diag(sigma) V^T``. ``T`` (m,6): constant stresses with doubled off-diagonal
    entries.
    """
    A, D, scratch = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    for e in range(begin, end):
        t = T[e]
        A[0, 0], A[1, 1], A[2, 2] = t[0], t[1], t[2]
        A[1, 2] = A[2, 1] = 0.5 * t[3]
        A[0, 2] = A[2, 0] = 0.5 * t[4]
        A[0, 1] = A[1, 0] = 0.5 * t[5]
        into_frame(V[e], A, V[e], scratch, D)
        for p in range(3):
            for q in range(3):
                if p != q:
                    D[p, q] *= 2.0 * sigma[e, p] / max(sigma[e, p] + sigma[e, q], SMALLEST_SUM)
        out_of_frame(U[e], D, V[e], scratch, out[e])


@parallel_kernel
def fill_measure(begin, end, shift, energies, stresses, Q, at_rest, factor, bend):
    """Fill ``factor`` (m,) with ``g = sqrt(psi / psi_2)`` per element, and ``bend`` (m,6) with dg/dS.

    S is the polar stretch. ``shift`` (m,6): S - I. ``energies`` (m,): energy densities psi. ``stresses`` (m,3):
    principal stresses in the frames Q (m,3,3). ``at_rest`` (m,2): 2 mu and lambda, which define the quadratic energy
    psi_2. If psi is not finite, g is set to 1.
    """
    linear, stress = np.empty(6), np.empty(6)
    for e in range(begin, end):
        trace = shift[e, 0] + shift[e, 1] + shift[e, 2]
        quadratic, least = 0.0, LEAST * at_rest[e, 0]
        for k in range(6):
            linear[k] = at_rest[e, 0] * shift[e, k] * (1.0 if k < 3 else 2.0)
            if k < 3:
                linear[k] += at_rest[e, 1] * trace
            quadratic += 0.5 * linear[k] * shift[e, k]
        ratio = (max(energies[e], 0.0) + least) / (quadratic + least)
        if not np.isfinite(ratio):
            factor[e], bend[e] = 1.0, 0.0
            continue
        factor[e] = np.sqrt(ratio)
        polar_stretch(stresses[e], Q[e], stress)
        for k in range(6):
            own = stress[k] * (1.0 if k < 3 else 2.0)
            bend[e, k] = (own - ratio * linear[k]) / (2.0 * factor[e] * (quadratic + least))


@parallel_kernel
def fill_along(begin, end, given, factor, along, onto, out):
    """Multiply vectors by the derivative of the strain measure ``phi = g (S - I)`` per element, or by its transpose.

    S is the polar stretch, and g a scalar function of S (:mod:`.stretch_measure`). The kernel fills ``out`` (m,6) with
    ``factor * given + dot(along, given) * onto``. ``given`` (m,6): vectors to multiply. ``factor`` (m,): values of g.
    For the derivative, ``along`` (m,6) is dg/dS, and ``onto`` (m,6) is S - I. For the transpose, ``along`` and ``onto``
    are exchanged.
    """
    for e in range(begin, end):
        part = 0.0
        for k in range(6):
            part += along[e, k] * given[e, k]
        for k in range(6):
            out[e, k] = factor[e] * given[e, k] + part * onto[e, k]


@parallel_kernel
def subtract_curvature_share(begin, end, share, values, stresses, factor, at_rest, curvature, flip, twist):
    """Subtract the part of each element's second derivatives that is due to the curvature of the strain measure, in
    place.

    With Hooke's tensor C and the strain measure phi (:mod:`.stretch_measure`), the energy density is ``psi = 1/2 phi :
    C : phi``. The second derivatives of psi are the sum of ``dphi : C : dphi`` and of a contribution of the curvature
    of phi. The fraction ``share`` (m,) of this contribution is subtracted.

    The second derivatives are stored as ``curvature`` (m,3,3) by the principal stretches, ``flip`` (m,3) for shears,
    and ``twist`` (m,3) for rotations. ``values`` (m,3): principal stretches. ``stresses`` (m,3): principal stresses.
    ``at_rest`` (m,2): 2 mu and lambda, which define the quadratic energy density psi_2. ``factor`` (m,): ``sqrt(psi /
    psi_2)``.
    """
    linear, bend = np.empty(3), np.empty(3)
    for e in range(begin, end):
        part, left, g, two, lam = share[e], 1.0 - share[e], factor[e], at_rest[e, 0], at_rest[e, 1]
        trace, quadratic = values[e, 0] + values[e, 1] + values[e, 2] - 3.0, 0.0
        for i in range(3):
            linear[i] = two * (values[e, i] - 1.0) + lam * trace
            quadratic += 0.5 * linear[i] * (values[e, i] - 1.0)
        for i in range(3):
            bend[i] = (stresses[e, i] - g * g * linear[i]) / (2.0 * g * (quadratic + LEAST * two))
        for i in range(3):
            for j in range(3):
                straight = g * g * (lam + (two if i == j else 0.0))
                straight += g * (linear[i] * bend[j] + bend[i] * linear[j]) + 2.0 * quadratic * bend[i] * bend[j]
                curvature[e, i, j] = left * curvature[e, i, j] + part * straight
            flip[e, i] = left * flip[e, i] + part * two * g * g
            twist[e, i] *= left
