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

from ..jit import inlined, kernel, parallel_kernel
from .kinematics import Deformation, Stretch
from .tangent import Tangent, project


@dataclass(frozen=True)
class PrincipalFunction:
    """The batch kernels of one file, functions of ``sigma`` (n,3) and the Lame parameters ``(mu, lambda)`` (n,2).

    They are serial: a millisecond for 100,000 tets beside the rest of an iteration, and less than half to compile.

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
        g = self.principal.gradient(deformation.sigma, parameters)
        P = np.empty((len(g), 3, 3))
        _rotate_stress(len(g), deformation.U, g, deformation.V, P)
        return P

    def hessian(self, deformation: Deformation, parameters: np.ndarray, projected: bool = True) -> np.ndarray:
        """``d2psi/dF2`` over ``F.ravel()``, (n,9,9), Pa; projected to semi-definite unless told otherwise."""
        H = np.empty((len(deformation.F), 9, 9))
        _deformation_hessian(len(H), *self.tangent(deformation, parameters, projected), H)
        return H

    def tangent(self, deformation: Deformation, parameters: np.ndarray, projected: bool = True) -> Tangent:
        """The same in the frame of the singular vectors: what solvers use."""
        return _tangent(
            deformation.U, deformation.V, self.principal.curvature(deformation.sigma, parameters), projected
        )

    def stretch_value(self, stretch: Stretch, parameters: np.ndarray) -> np.ndarray:
        """Energy density of symmetric stretches, (n,), Pa."""
        return self.principal.value(stretch.values, parameters)

    def stretch_gradient(self, stretch: Stretch, parameters: np.ndarray) -> np.ndarray:
        """Derivative by the six numbers of S (off-diagonals stand twice in S), (n,6), Pa."""
        out = np.empty((len(stretch.s), 6))
        _stretch_gradient(len(out), stretch.Q, self.principal.gradient(stretch.values, parameters), out)
        return out

    def stretch_stress(self, stretch: Stretch, parameters: np.ndarray) -> np.ndarray:
        """The same in the frame of S: principal stresses, (n,3), Pa."""
        return self.principal.gradient(stretch.values, parameters)

    def stretch_hessian(self, stretch: Stretch, parameters: np.ndarray, projected: bool = True) -> np.ndarray:
        """Second derivative by the six numbers of S, (n,6,6), Pa; projected unless told otherwise."""
        tangent = self.stretch_tangent(stretch, parameters, projected)
        H = np.empty((len(stretch.s), 6, 6))
        _stretch_hessian(len(H), tangent.U, tangent.curvature, tangent.flip, H)
        return H

    def stretch_tangent(self, stretch: Stretch, parameters: np.ndarray, projected: bool = True) -> Tangent:
        """The same in the frame of S, where D is symmetric and knows no twist: what solvers use."""
        return _tangent(stretch.Q, stretch.Q, self.principal.curvature(stretch.values, parameters), projected)


def _tangent(
    U: np.ndarray, V: np.ndarray, curvature: tuple[np.ndarray, np.ndarray, np.ndarray], projected: bool
) -> Tangent:
    if projected:
        project(*curvature)
    return Tangent(U, V, *curvature)


@kernel
def stretch_and_volume(s, own, slope, second, H, flip, twist):
    """Curvature of ``own/2 |F|^2 + g(J)`` with the derivatives ``slope`` and ``second`` of g, at principal stretches s
    (3,), into H (3,3), flip and twist (3,): ``second J_i J_j``, plus ``own`` on the diagonal and ``slope s_k`` off it.
    """
    for i in range(3):
        Ji = s[1 if i == 0 else 0] * s[1 if i == 2 else 2]
        for j in range(3):
            Jj = s[1 if j == 0 else 0] * s[1 if j == 2 else 2]
            H[i, j] = second * Ji * Jj + (own if i == j else slope * s[3 - i - j])
        flip[i] = own - slope * s[i]
        twist[i] = own + slope * s[i]


@kernel
def ordered(psi):
    """An energy density, inf in place of NaN: beyond the range of numbers inf - inf has no order and no line search."""
    return psi if psi == psi else np.inf


@parallel_kernel
def _rotate_stress(begin, end, U, g, V, P):
    for e in range(begin, end):
        for i in range(3):
            for j in range(3):
                P[e, i, j] = (
                    U[e, i, 0] * g[e, 0] * V[e, j, 0]
                    + U[e, i, 1] * g[e, 1] * V[e, j, 1]
                    + U[e, i, 2] * g[e, 2] * V[e, j, 2]
                )


@parallel_kernel
def _deformation_hessian(begin, end, U, V, curvature, flip, twist, H):
    half = np.sqrt(0.5)
    for e in range(begin, end):
        A = curvature[e]
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
            for c in range(9):
                Y[k, c] = A[k, 0] * W[0, c] + A[k, 1] * W[1, c] + A[k, 2] * W[2, c]
                Y[3 + k, c] = flip[e, k] * W[3 + k, c]
                Y[6 + k, c] = twist[e, k] * W[6 + k, c]
        for c in range(9):
            for d in range(c + 1):
                total = 0.0
                for k in range(9):
                    total += W[k, c] * Y[k, d]
                H[e, c, d] = total
                H[e, d, c] = total


@parallel_kernel
def _stretch_gradient(begin, end, Q, g, out):
    for e in range(begin, end):
        for k in range(6):
            i = k if k < 3 else (1 if k == 3 else 0)
            j = k if k < 3 else (1 if k == 5 else 2)
            total = 0.0
            for p in range(3):
                total += Q[e, i, p] * g[e, p] * Q[e, j, p]
            out[e, k] = total if k < 3 else 2.0 * total


@parallel_kernel
def _stretch_hessian(begin, end, Q, curvature, flip, H):
    D = np.empty((6, 6))
    for e in range(begin, end):
        stretch_form(Q[e], curvature[e], flip[e], D, H[e])


@inlined
def stretch_form(Q, A, flip, D, H):
    """The quadratic form ``sum_ij A_ij E_ii E_jj + 2 sum_{i<j} flip_ij E_ij²``, ``E = Q^T dS Q``, over the six numbers
    of dS, into H (6,6); D (6,6) is scratch.
    """
    # Row p of D: entry p of E for each of the six directions dS; rows 3-5 carry both off-diagonal entries of dS.
    for c in range(6):
        i = c if c < 3 else (1 if c == 3 else 0)
        j = c if c < 3 else (1 if c == 5 else 2)
        for k in range(3):
            p = 1 if k == 0 else 0
            q = 1 if k == 2 else 2
            if c < 3:
                D[k, c] = Q[i, k] * Q[i, k]
                D[3 + k, c] = Q[i, p] * Q[i, q]
            else:
                D[k, c] = 2.0 * Q[i, k] * Q[j, k]
                D[3 + k, c] = Q[i, p] * Q[j, q] + Q[j, p] * Q[i, q]
    for d in range(6):
        # A column of the form times D.
        x = A[0, 0] * D[0, d] + A[0, 1] * D[1, d] + A[0, 2] * D[2, d]
        y = A[1, 0] * D[0, d] + A[1, 1] * D[1, d] + A[1, 2] * D[2, d]
        z = A[2, 0] * D[0, d] + A[2, 1] * D[1, d] + A[2, 2] * D[2, d]
        u, v, w = 2.0 * flip[0] * D[3, d], 2.0 * flip[1] * D[4, d], 2.0 * flip[2] * D[5, d]
        for c in range(d + 1):
            total = D[0, c] * x + D[1, c] * y + D[2, c] * z + D[3, c] * u + D[4, c] * v + D[5, c] * w
            H[c, d] = total
            H[d, c] = total
