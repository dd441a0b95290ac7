"""3 x 3 linear algebra in kernels: singular values, symmetric eigenvectors, the polar stretch and its derivative.

Jacobi rotations throughout: one-sided for singular values (relative accuracy down to the smallest one, which a body of
1e14 Pa needs; the eigenvalues of ``F^T F`` would lose half the digits), two-sided for symmetric matrices.

The singular value decomposition is the signed one: ``F = U diag(sigma) V^T`` with U and V rotations and
``sigma_1 >= sigma_2 >= |sigma_3|``, so that an inverted F has ``sigma_3 < 0``.

A symmetric matrix S is stored as six numbers ``s = (S11, S22, S33, S23, S13, S12)``.
"""

from __future__ import annotations

import numpy as np
from numba import prange

from .jit import kernel, parallel_kernel

SMALLEST_SUM = 0.1
"""Magnitude below which ``sigma_i + sigma_j`` is clamped in the stretch derivative (inverted elements; see
numerics).
"""


UNSTRETCHED = (1.0, 1.0, 1.0, 0.0, 0.0, 0.0)
"""The identity as six numbers."""


@kernel
def svd3(F, U, sigma, V):
    """Signed singular value decomposition of one 3 x 3 matrix, written into U, sigma, V."""
    # Scaled, so that products of tiny or huge entries neither vanish nor overflow.
    largest = np.abs(F).max()
    A = F / largest if largest > 0.0 else F.copy()
    for i in range(3):
        for j in range(3):
            V[i, j] = 1.0 if i == j else 0.0
    for _sweep in range(30):
        off = 0.0
        for p in range(2):
            for q in range(p + 1, 3):
                app = A[0, p] * A[0, p] + A[1, p] * A[1, p] + A[2, p] * A[2, p]
                aqq = A[0, q] * A[0, q] + A[1, q] * A[1, q] + A[2, q] * A[2, q]
                apq = A[0, p] * A[0, q] + A[1, p] * A[1, q] + A[2, p] * A[2, q]
                scale = np.sqrt(app * aqq)
                if abs(apq) <= 1e-16 * scale or apq == 0.0:
                    continue
                off = max(off, abs(apq) / scale) if scale > 0.0 else off
                zeta = (aqq - app) / (2.0 * apq)
                t = 1.0 / (abs(zeta) + np.sqrt(1.0 + zeta * zeta))
                if zeta < 0.0:
                    t = -t
                c = 1.0 / np.sqrt(1.0 + t * t)
                s = c * t
                for i in range(3):
                    x, y = A[i, p], A[i, q]
                    A[i, p] = c * x - s * y
                    A[i, q] = s * x + c * y
                    x, y = V[i, p], V[i, q]
                    V[i, p] = c * x - s * y
                    V[i, q] = s * x + c * y
        if off < 1e-15:
            break
    for i in range(3):
        sigma[i] = np.sqrt(A[0, i] * A[0, i] + A[1, i] * A[1, i] + A[2, i] * A[2, i])
    # Sort downwards; each exchange flips the determinant of V, mended at the end.
    for a in range(2):
        for b in range(2 - a):
            if sigma[b] < sigma[b + 1]:
                sigma[b], sigma[b + 1] = sigma[b + 1], sigma[b]
                for i in range(3):
                    A[i, b], A[i, b + 1] = A[i, b + 1], A[i, b]
                    V[i, b], V[i, b + 1] = V[i, b + 1], V[i, b]
    if _det(V) < 0.0:
        for i in range(3):
            V[i, 2] = -V[i, 2]
            A[i, 2] = -A[i, 2]
    _left_vectors(A, sigma, U)
    for i in range(3):
        sigma[i] *= largest


@kernel
def _det(A):
    return (
        A[0, 0] * (A[1, 1] * A[2, 2] - A[1, 2] * A[2, 1])
        - A[0, 1] * (A[1, 0] * A[2, 2] - A[1, 2] * A[2, 0])
        + A[0, 2] * (A[1, 0] * A[2, 1] - A[1, 1] * A[2, 0])
    )


@kernel
def _left_vectors(A, sigma, U):
    """Normalise the columns of A into U, complete what vanishes, make U a rotation; the sign goes to ``sigma[2]``."""
    tiny = 1e-300 + 1e-15 * sigma[0]
    if sigma[0] > 1e-300:
        for i in range(3):
            U[i, 0] = A[i, 0] / sigma[0]
    else:
        U[0, 0], U[1, 0], U[2, 0] = 1.0, 0.0, 0.0
    if sigma[1] > tiny:
        for i in range(3):
            U[i, 1] = A[i, 1] / sigma[1]
    else:
        k = 0
        for i in range(1, 3):
            if abs(U[i, 0]) < abs(U[k, 0]):
                k = i
        dot = U[k, 0]
        norm = 0.0
        for i in range(3):
            U[i, 1] = (1.0 if i == k else 0.0) - dot * U[i, 0]
            norm += U[i, 1] * U[i, 1]
        norm = np.sqrt(norm)
        for i in range(3):
            U[i, 1] /= norm
    U[0, 2] = U[1, 0] * U[2, 1] - U[2, 0] * U[1, 1]
    U[1, 2] = U[2, 0] * U[0, 1] - U[0, 0] * U[2, 1]
    U[2, 2] = U[0, 0] * U[1, 1] - U[1, 0] * U[0, 1]
    # A's third column is +-sigma_3 times this cross product.
    if A[0, 2] * U[0, 2] + A[1, 2] * U[1, 2] + A[2, 2] * U[2, 2] < 0.0:
        sigma[2] = -sigma[2]


@kernel
def eigh3(S, values, Q):
    """Eigenvalues and rotation of eigenvectors of one symmetric 3 x 3 matrix: ``S = Q diag(values) Q^T``, unsorted."""
    A = S.copy()
    for i in range(3):
        for j in range(3):
            Q[i, j] = 1.0 if i == j else 0.0
    for _sweep in range(30):
        off = abs(A[0, 1]) + abs(A[0, 2]) + abs(A[1, 2])
        if off <= 1e-18 * (abs(A[0, 0]) + abs(A[1, 1]) + abs(A[2, 2])) or off == 0.0:
            break
        for p in range(2):
            for q in range(p + 1, 3):
                if A[p, q] == 0.0:
                    continue
                theta = (A[q, q] - A[p, p]) / (2.0 * A[p, q])
                t = 1.0 / (abs(theta) + np.sqrt(theta * theta + 1.0))
                if theta < 0.0:
                    t = -t
                c = 1.0 / np.sqrt(t * t + 1.0)
                s = t * c
                for k in range(3):
                    x, y = A[k, p], A[k, q]
                    A[k, p] = c * x - s * y
                    A[k, q] = s * x + c * y
                for k in range(3):
                    x, y = A[p, k], A[q, k]
                    A[p, k] = c * x - s * y
                    A[q, k] = s * x + c * y
                    x, y = Q[k, p], Q[k, q]
                    Q[k, p] = c * x - s * y
                    Q[k, q] = s * x + c * y
                A[p, q] = 0.0
                A[q, p] = 0.0
    for i in range(3):
        values[i] = A[i, i]


@kernel
def symmetric_from_six(s, S):
    """Write the 3 x 3 matrix of six numbers into S."""
    S[0, 0], S[1, 1], S[2, 2] = s[0], s[1], s[2]
    S[1, 2] = S[2, 1] = s[3]
    S[0, 2] = S[2, 0] = s[4]
    S[0, 1] = S[1, 0] = s[5]


@parallel_kernel
def batch_svd(F):
    """Signed singular value decompositions, F (n,3,3) -> U (n,3,3), sigma (n,3), V (n,3,3)."""
    n = F.shape[0]
    U = np.empty((n, 3, 3))
    sigma = np.empty((n, 3))
    V = np.empty((n, 3, 3))
    for e in prange(n):
        svd3(F[e], U[e], sigma[e], V[e])
    return U, sigma, V


@parallel_kernel
def batch_eigh(s):
    """Eigenvalues (n,3) and rotations (n,3,3) of symmetric matrices stored as six numbers each, s (n,6)."""
    n = s.shape[0]
    values = np.empty((n, 3))
    Q = np.empty((n, 3, 3))
    for e in prange(n):
        S = np.empty((3, 3))
        symmetric_from_six(s[e], S)
        eigh3(S, values[e], Q[e])
    return values, Q


@parallel_kernel
def batch_stretch(sigma, V):
    """Polar stretch ``S = V diag(sigma) V^T`` as six numbers each, (n,6)."""
    n = sigma.shape[0]
    s = np.empty((n, 6))
    for e in prange(n):
        for k in range(6):
            i = k if k < 3 else (1 if k == 3 else 0)
            j = k if k < 3 else (1 if k == 5 else 2)
            s[e, k] = (
                V[e, i, 0] * sigma[e, 0] * V[e, j, 0]
                + V[e, i, 1] * sigma[e, 1] * V[e, j, 1]
                + V[e, i, 2] * sigma[e, 2] * V[e, j, 2]
            )
    return s


@kernel
def stretch_derivative(U, sigma, V, J):
    """Derivative of the polar stretch by the deformation gradient, J (6,9), rows as six numbers, columns ``F.ravel()``.

    From ``dF = d(R S)``: in the frame of the singular vectors, with ``D = U^T dF V``,
    ``(V^T dS V)_ij = (sigma_i D_ij + sigma_j D_ji) / (sigma_i + sigma_j)`` off the diagonal and ``D_ii`` on it.
    """
    T = np.empty((3, 3))
    for a in range(3):
        for b in range(3):
            for i in range(3):
                T[i, i] = U[a, i] * V[b, i]
                for j in range(i):
                    total = sigma[i] + sigma[j]
                    if abs(total) < SMALLEST_SUM:
                        total = SMALLEST_SUM if total >= 0.0 else -SMALLEST_SUM
                    t = (sigma[i] * U[a, i] * V[b, j] + sigma[j] * U[a, j] * V[b, i]) / total
                    T[i, j] = t
                    T[j, i] = t
            column = 3 * a + b
            for k in range(6):
                i = k if k < 3 else (1 if k == 3 else 0)
                j = k if k < 3 else (1 if k == 5 else 2)
                total = 0.0
                for p in range(3):
                    inner = 0.0
                    for q in range(3):
                        inner += T[p, q] * V[j, q]
                    total += V[i, p] * inner
                J[k, column] = total
