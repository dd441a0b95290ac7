"""An isotropic energy from a function of principal stretches: both forms, with exact and projected Hessians.

An energy that depends on F through its signed singular values alone, ``psi(sigma)``, has in their frame (``D = U^T dF
V``) the second variation

    sum_ij psi_ij D_ii D_jj  +  sum_{i<j} flip_ij (D_ij + D_ji)^2 / 2  +  sum_{i<j} twist_ij (D_ij - D_ji)^2 / 2
    flip_ij = (psi_i - psi_j) / (sigma_i - sigma_j),      twist_ij = (psi_i + psi_j) / (sigma_i + sigma_j)

(Smith, de Goes, Kim 2019, "Analytic Eigensystems for Isotropic Distortion Energies"). As a function of a symmetric S
the same ``psi_ij`` and ``flip_ij`` are all there is, for then D is symmetric. Clamping flip, twist and the eigenvalues
of psi_ij at zero projects to the nearest semi-definite matrix in the Frobenius norm of dF or dS: independent of the
axes.

Trap: write flip and twist in closed form in each energy; the quotients above cancel where stretches meet.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import prange

from ..jit import kernel, parallel_kernel
from ..small_matrix import eigh3
from .kinematics import Deformation, Stretch


@dataclass(frozen=True)
class PrincipalFunction:
    """The batch kernels of one file, functions of ``sigma`` (n,3) and the Lame parameters ``(mu, lambda)`` (n,2).

    Attributes
    ----------
    value : energy density psi, (n,), Pa
    gradient : principal stresses psi_i, (n,3), Pa
    curvature : ``psi_ij`` (n,3,3), and flip and twist (n,3) of the pairs (2,3), (1,3), (1,2), Pa
    """

    value: Callable[[np.ndarray, np.ndarray], np.ndarray]
    gradient: Callable[[np.ndarray, np.ndarray], np.ndarray]
    curvature: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class IsotropicEnergy:
    """An energy of the registry made from the principal kernels of one file."""

    name: str
    label: str
    description: str
    principal: PrincipalFunction
    rotation_invariant: bool = True

    def value(self, deformation: Deformation, parameters: np.ndarray) -> np.ndarray:
        """Energy density of deformation gradients, (n,), Pa."""
        return self.principal.value(deformation.sigma, parameters)

    def gradient(self, deformation: Deformation, parameters: np.ndarray) -> np.ndarray:
        """First Piola-Kirchhoff stress ``dpsi/dF``, (n,3,3), Pa."""
        return _rotate_stress(deformation.U, self.principal.gradient(deformation.sigma, parameters), deformation.V)

    def hessian(self, deformation: Deformation, parameters: np.ndarray, projected: bool = True) -> np.ndarray:
        """``d2psi/dF2`` over ``F.ravel()``, (n,9,9), Pa; projected to semi-definite unless told otherwise."""
        curvature = self.principal.curvature(deformation.sigma, parameters)
        return _deformation_hessian(deformation.U, deformation.V, *curvature, projected)

    def stretch_value(self, stretch: Stretch, parameters: np.ndarray) -> np.ndarray:
        """Energy density of symmetric stretches, (n,), Pa."""
        return self.principal.value(stretch.values, parameters)

    def stretch_gradient(self, stretch: Stretch, parameters: np.ndarray) -> np.ndarray:
        """Derivative by the six numbers of S (off-diagonals stand twice in S), (n,6), Pa."""
        return _stretch_gradient(stretch.Q, self.principal.gradient(stretch.values, parameters))

    def stretch_hessian(self, stretch: Stretch, parameters: np.ndarray, projected: bool = True) -> np.ndarray:
        """Second derivative by the six numbers of S, (n,6,6), Pa; projected unless told otherwise."""
        curvature, flip, _twist = self.principal.curvature(stretch.values, parameters)
        return _stretch_hessian(stretch.Q, curvature, flip, projected)


@kernel
def ordered(psi):
    """An energy density, inf in place of NaN: beyond the range of numbers inf - inf has no order and no line search."""
    return psi if psi == psi else np.inf


@kernel
def _project3(A):
    """Clamp the negative eigenvalues of a symmetric 3 x 3 matrix, in place."""
    values = np.empty(3)
    Q = np.empty((3, 3))
    eigh3(A, values, Q)
    if values.min() >= 0.0:
        return
    for i in range(3):
        for j in range(3):
            total = 0.0
            for k in range(3):
                total += Q[i, k] * max(values[k], 0.0) * Q[j, k]
            A[i, j] = total


@parallel_kernel
def _rotate_stress(U, g, V):
    n = g.shape[0]
    P = np.empty((n, 3, 3))
    for e in prange(n):
        for i in range(3):
            for j in range(3):
                P[e, i, j] = (
                    U[e, i, 0] * g[e, 0] * V[e, j, 0]
                    + U[e, i, 1] * g[e, 1] * V[e, j, 1]
                    + U[e, i, 2] * g[e, 2] * V[e, j, 2]
                )
    return P


@parallel_kernel
def _deformation_hessian(U, V, curvature, flip, twist, projected):
    n = U.shape[0]
    H = np.empty((n, 9, 9))
    half = np.sqrt(0.5)
    for e in prange(n):
        A = curvature[e].copy()
        if projected:
            _project3(A)
        # Rows of W: the nine modes as vectors over F.ravel(): three scalings, three flips, three twists.
        W = np.empty((9, 9))
        Y = np.empty((9, 9))
        for a in range(3):
            for b in range(3):
                c = 3 * a + b
                for k in range(3):
                    i = 1 if k == 0 else 0
                    j = 1 if k == 2 else 2
                    up = U[e, a, i] * V[e, b, j]
                    down = U[e, a, j] * V[e, b, i]
                    W[k, c] = U[e, a, k] * V[e, b, k]
                    W[3 + k, c] = half * (up + down)
                    W[6 + k, c] = half * (up - down)
        for k in range(3):
            f = flip[e, k]
            t = twist[e, k]
            if projected:
                f = max(f, 0.0)
                t = max(t, 0.0)
            for c in range(9):
                Y[k, c] = A[k, 0] * W[0, c] + A[k, 1] * W[1, c] + A[k, 2] * W[2, c]
                Y[3 + k, c] = f * W[3 + k, c]
                Y[6 + k, c] = t * W[6 + k, c]
        for c in range(9):
            for d in range(c + 1):
                total = 0.0
                for k in range(9):
                    total += W[k, c] * Y[k, d]
                H[e, c, d] = total
                H[e, d, c] = total
    return H


@parallel_kernel
def _stretch_gradient(Q, g):
    n = g.shape[0]
    out = np.empty((n, 6))
    for e in prange(n):
        for k in range(6):
            i = k if k < 3 else (1 if k == 3 else 0)
            j = k if k < 3 else (1 if k == 5 else 2)
            total = 0.0
            for p in range(3):
                total += Q[e, i, p] * g[e, p] * Q[e, j, p]
            out[e, k] = total if k < 3 else 2.0 * total
    return out


@parallel_kernel
def _stretch_hessian(Q, curvature, flip, projected):
    n = Q.shape[0]
    H = np.empty((n, 6, 6))
    for e in prange(n):
        A = curvature[e].copy()
        if projected:
            _project3(A)
        # Row p of D: entry p of Q^T dS Q for each of the six directions dS; rows 3-5 carry both off-diagonal entries.
        D = np.empty((6, 6))
        Y = np.empty((6, 6))
        for c in range(6):
            i = c if c < 3 else (1 if c == 3 else 0)
            j = c if c < 3 else (1 if c == 5 else 2)
            for k in range(3):
                p = 1 if k == 0 else 0
                q = 1 if k == 2 else 2
                if c < 3:
                    D[k, c] = Q[e, i, k] * Q[e, i, k]
                    D[3 + k, c] = Q[e, i, p] * Q[e, i, q]
                else:
                    D[k, c] = 2.0 * Q[e, i, k] * Q[e, j, k]
                    D[3 + k, c] = Q[e, i, p] * Q[e, j, q] + Q[e, j, p] * Q[e, i, q]
        for k in range(3):
            f = 2.0 * flip[e, k]
            if projected:
                f = max(f, 0.0)
            for c in range(6):
                Y[k, c] = A[k, 0] * D[0, c] + A[k, 1] * D[1, c] + A[k, 2] * D[2, c]
                Y[3 + k, c] = f * D[3 + k, c]
        for c in range(6):
            for d in range(c + 1):
                total = 0.0
                for k in range(6):
                    total += D[k, c] * Y[k, d]
                H[e, c, d] = total
                H[e, d, c] = total
    return H
