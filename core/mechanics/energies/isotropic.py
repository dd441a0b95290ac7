"""Isotropic energies as functions of principal stretches, with exact and projected Hessians.

Let an energy ``psi(sigma)`` depend on F only through the signed singular values sigma of ``F = U diag(sigma) V^T``. In
the frame of the singular vectors, a change dF of F is ``D = U^T dF V``. The second variation of the energy is

    sum_ij psi_ij D_ii D_jj  +  sum_{i<j} flip_ij (D_ij + D_ji)^2 / 2  +  sum_{i<j} twist_ij (D_ij - D_ji)^2 / 2
    flip_ij = (psi_i - psi_j) / (sigma_i - sigma_j),      twist_ij = (psi_i + psi_j) / (sigma_i + sigma_j)

with ``psi_i = dpsi/dsigma_i`` (Smith, de Goes, Kim 2019, "Analytic Eigensystems for Isotropic Distortion Energies").
For a function of a symmetric stretch S, D is symmetric and only ``psi_ij`` and ``flip_ij`` remain. Clamping flip, twist
and the eigenvalues of psi_ij at zero gives the nearest semi-definite matrix, in the Frobenius norm over dF or dS. The
nearest matrix does not depend on the choice of axes.

Trap: write flip and twist in closed form in each energy. Round-off ruins the quotients above where their denominators
are close to zero.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...foundation.kernels.jit import inner_kernel, parallel_kernel
from .kinematics import Deformation, Stretch
from .tangent import Tangent, project


@dataclass(frozen=True)
class PrincipalFunction:
    """Kernels of one isotropic energy: its density and the derivatives of the density by the principal stretches.

    The kernels are functions of the principal stretches ``sigma`` (n,3) of n tets and of ``parameters`` (n,j). The
    columns of ``parameters`` are mu and lambda (Pa), then further parameters of the energy. Kernels write into their
    last arguments. Kernels are serial: 100,000 tets take only 1 ms, and compilation takes half as long as for parallel
    kernels.
    """

    fill_value: Callable[..., None]
    fill_gradient: Callable[..., None]
    fill_curvature: Callable[..., None]

    def value(self, sigma: np.ndarray, parameters: np.ndarray) -> np.ndarray:
        """Return the energy density psi of each tet, (n,) Pa. ``sigma`` (n,3): principal stretches."""
        out = np.empty(len(sigma))
        self.fill_value(sigma, parameters, out)
        return out

    def gradient(self, sigma: np.ndarray, parameters: np.ndarray) -> np.ndarray:
        """Return the principal stresses ``psi_i = dpsi/dsigma_i`` of each tet, (n,3) Pa.

        ``sigma`` (n,3): principal stretches.
        """
        out = np.empty((len(sigma), 3))
        self.fill_gradient(sigma, parameters, out)
        return out

    def curvature(self, sigma: np.ndarray, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the second derivatives of the energy density psi of each tet, Pa.

        The result consists of three arrays: the Hessian of psi by the principal stretches (n,3,3), the coefficients
        flip (n,3) and the coefficients twist (n,3). Flip is ``(psi_i - psi_j) / (sigma_i - sigma_j)`` and twist is
        ``(psi_i + psi_j) / (sigma_i + sigma_j)``, where ``psi_i = dpsi/dsigma_i``. The columns of flip and twist belong
        to the index pairs (2,3), (1,3), (1,2). ``sigma`` (n,3): principal stretches.
        """
        out = np.empty((len(sigma), 3, 3)), np.empty((len(sigma), 3)), np.empty((len(sigma), 3))
        self.fill_curvature(sigma, parameters, *out)
        return out


@dataclass(frozen=True)
class IsotropicEnergy:
    """Isotropic elastic energy density, given by functions of the principal stretches.

    ``own`` names the fields of ``MaterialSettings`` that the energy uses besides stiffness and Poisson's ratio. These
    fields are the columns of the energy's parameters after mu and lambda. They are dimensionless, so animated stiffness
    scales mu and lambda only. If ``prevents_inversion``, steps with contact between bodies are limited so that no tet
    of this energy inverts.
    """

    name: str
    label: str
    description: str
    principal: PrincipalFunction
    rotation_invariant: bool = True
    prevents_inversion: bool = False
    own: tuple[str, ...] = ()

    def value(self, deformation: Deformation, parameters: np.ndarray) -> np.ndarray:
        """Return the energy density at each deformation gradient, (n,) Pa.

        ``parameters`` (n,j): mu and lambda (Pa), then further parameters of the energy.
        """
        return self.principal.value(deformation.sigma, parameters)

    def gradient(self, deformation: Deformation, parameters: np.ndarray) -> np.ndarray:
        """Return the first Piola-Kirchhoff stress ``dpsi/dF`` at each deformation gradient F, (n,3,3) Pa."""
        g = self.principal.gradient(deformation.sigma, parameters)
        P = np.empty((len(g), 3, 3))
        _rotate_stress(len(g), deformation.U, g, deformation.V, P)
        return P

    def tangent(self, deformation: Deformation, parameters: np.ndarray, projected: bool = True) -> Tangent:
        """Return the second derivative of the density by F, in the frame of F's singular vectors.

        If ``projected``, the result is the positive semi-definite matrix nearest to the second derivative.
        """
        U, V, curvature = deformation.U, deformation.V, self.principal.curvature(deformation.sigma, parameters)
        return _tangent(U, V, curvature, projected)

    def stretch_value(self, stretch: Stretch, parameters: np.ndarray) -> np.ndarray:
        """Return the energy density at each symmetric stretch, (n,) Pa.

        ``parameters`` (n,j): mu and lambda (Pa), then further parameters of the energy.
        """
        return self.principal.value(stretch.values, parameters)

    def stretch_stress(self, stretch: Stretch, parameters: np.ndarray) -> np.ndarray:
        """Return the principal stresses at each symmetric stretch S, (n,3) Pa.

        The principal stresses are the derivatives of the energy density by the eigenvalues of S.
        """
        return self.principal.gradient(stretch.values, parameters)

    def stretch_tangent(self, stretch: Stretch, parameters: np.ndarray, projected: bool = True) -> Tangent:
        """Return the second derivative of the density by a symmetric stretch S, in the eigenframe of S.

        If ``projected``, the result is the positive semi-definite matrix nearest to the second derivative. The entry
        ``twist`` of the result is not used, since S is symmetric.
        """
        return _tangent(stretch.Q, stretch.Q, self.principal.curvature(stretch.values, parameters), projected)


def _tangent(
    U: np.ndarray, V: np.ndarray, curvature: tuple[np.ndarray, np.ndarray, np.ndarray], projected: bool
) -> Tangent:
    if projected:
        project(*curvature)
    return Tangent(U, V, *curvature)


@inner_kernel
def off_zero(total):
    """Return the sum ``total`` of two principal stretches, or 1e-8 if the magnitude of the sum is smaller.

    The result is the denominator of the coefficient twist, ``(psi_i + psi_j) / (sigma_i + sigma_j)``, with the
    principal stresses psi_i.
    """
    return 1e-8 if abs(total) < 1e-8 else total


@inner_kernel
def principal_hessian(s, own, slope, second, H, flip, twist):
    """Write the second derivatives of an energy ``own/2 |F|^2 + g(J)`` by the principal stretches to H (3,3).

    ``H_ii = g'' J_i² + own`` and ``H_ij = g'' J_i J_j + g' s_k``, where ``J_i = dJ/ds_i`` and k is the third index.
    ``s`` (3,): principal stretches, ``J = s_1 s_2 s_3``. ``own``: coefficient such as mu. ``slope``, ``second``: g' and
    g'' at J.

    ``flip`` (3,) receives ``(psi_i - psi_j) / (s_i - s_j) = own - g' s_k`` and ``twist`` (3,) receives
    ``(psi_i + psi_j) / (s_i + s_j) = own + g' s_k``, where ``psi_i = dpsi/ds_i``. Entry k belongs to the two other
    indices i and j.
    """
    for i in range(3):
        Ji = s[1 if i == 0 else 0] * s[1 if i == 2 else 2]
        for j in range(3):
            Jj = s[1 if j == 0 else 0] * s[1 if j == 2 else 2]
            H[i, j] = second * Ji * Jj + (own if i == j else slope * s[3 - i - j])
        flip[i] = own - slope * s[i]
        twist[i] = own + slope * s[i]


@inner_kernel
def principal_stress(s, own, slope, out):
    """Write the principal stresses of the energy ``own/2 |F|^2 + g(J)`` to ``out`` (3,).

    The stresses are ``own s_i + g' J_i``, where ``J_i = dJ/ds_i``. ``s`` (3,): principal stretches,
    ``J = s_1 s_2 s_3``. ``own``: coefficient such as mu. ``slope``: g' at J.
    """
    out[0] = own * s[0] + slope * s[1] * s[2]
    out[1] = own * s[1] + slope * s[0] * s[2]
    out[2] = own * s[2] + slope * s[0] * s[1]


@inner_kernel
def ordered(psi):
    """Return the energy density ``psi``, or inf if ``psi`` is NaN.

    NaN results from inf - inf after overflow. The line search rejects steps to inf, but cannot compare NaN.
    """
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
