"""Isotropic energies as functions of the principal stretches of F or of a stretch S, with exact and projected Hessians.

An energy that depends on F through its signed singular values only, ``psi(sigma)``, has in their frame (``D = U^T dF
V``) the second variation

    sum_ij psi_ij D_ii D_jj  +  sum_{i<j} flip_ij (D_ij + D_ji)^2 / 2  +  sum_{i<j} twist_ij (D_ij - D_ji)^2 / 2
    flip_ij = (psi_i - psi_j) / (sigma_i - sigma_j),      twist_ij = (psi_i + psi_j) / (sigma_i + sigma_j)

with ``psi_i = dpsi/dsigma_i`` (Smith, de Goes, Kim 2019, "Analytic Eigensystems for Isotropic Distortion Energies").
For a function of a symmetric S, D is symmetric and only ``psi_ij`` and ``flip_ij`` remain. Clamping flip, twist and the
eigenvalues of psi_ij at zero gives the nearest semi-definite matrix, in the Frobenius norm over dF or dS. The nearest
matrix does not depend on the choice of axes.

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
    columns of ``parameters`` are mu, lambda, Pa, and further parameters of the energy. Kernels write into their last
    arguments. Kernels run on one thread: a serial kernel takes only 1 ms for 100,000 tets, and half
    the compile time of a parallel kernel.
    """

    fill_value: Callable[..., None]
    fill_gradient: Callable[..., None]
    fill_curvature: Callable[..., None]

    def value(self, sigma: np.ndarray, parameters: np.ndarray) -> np.ndarray:
        """Return the energy density psi per tet, (n,), Pa, at principal stretches ``sigma`` (n,3)."""
        out = np.empty(len(sigma))
        self.fill_value(sigma, parameters, out)
        return out

    def gradient(self, sigma: np.ndarray, parameters: np.ndarray) -> np.ndarray:
        """Return the principal stresses ``psi_i = dpsi/dsigma_i`` per tet, (n,3), Pa, at principal stretches ``sigma``
        (n,3).
        """
        out = np.empty((len(sigma), 3))
        self.fill_gradient(sigma, parameters, out)
        return out

    def curvature(self, sigma: np.ndarray, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the second derivatives of psi per tet, Pa, at principal stretches ``sigma`` (n,3).

        The result consists of the Hessian by the stretches (n,3,3), the coefficients flip (n,3), and the coefficients
        twist (n,3) (see the module). The columns of flip and twist belong to the index pairs (2,3), (1,3), (1,2).
        """
        out = np.empty((len(sigma), 3, 3)), np.empty((len(sigma), 3)), np.empty((len(sigma), 3))
        self.fill_curvature(sigma, parameters, *out)
        return out


@dataclass(frozen=True)
class IsotropicEnergy:
    """Isotropic elastic energy density, given by functions of the principal stretches; an entry of the registry.

    ``own`` names the fields of ``MaterialSettings`` that the energy uses besides stiffness and Poisson's ratio; they
    are the columns of its parameters after mu and lambda. They are dimensionless, so animated stiffness scales mu and
    lambda only. If ``prevents_inversion``, steps with contact between bodies are limited so that no tet of this energy
    inverts.
    """

    name: str
    label: str
    description: str
    principal: PrincipalFunction
    rotation_invariant: bool = True
    prevents_inversion: bool = False
    own: tuple[str, ...] = ()

    def value(self, deformation: Deformation, parameters: np.ndarray) -> np.ndarray:
        """Return the energy density (n,), Pa, at each deformation gradient. ``parameters`` (n,j): mu, lambda, Pa, and
        further parameters of the energy.
        """
        return self.principal.value(deformation.sigma, parameters)

    def gradient(self, deformation: Deformation, parameters: np.ndarray) -> np.ndarray:
        """Return the first Piola-Kirchhoff stress ``dpsi/dF`` per deformation gradient, (n,3,3), Pa."""
        g = self.principal.gradient(deformation.sigma, parameters)
        P = np.empty((len(g), 3, 3))
        _rotate_stress(len(g), deformation.U, g, deformation.V, P)
        return P

    def tangent(self, deformation: Deformation, parameters: np.ndarray, projected: bool = True) -> Tangent:
        """Return the second derivative of the density by F, in the frame of F's singular vectors. If ``projected``, it
        is the nearest positive semi-definite one.
        """
        U, V, curvature = deformation.U, deformation.V, self.principal.curvature(deformation.sigma, parameters)
        return _tangent(U, V, curvature, projected)

    def stretch_value(self, stretch: Stretch, parameters: np.ndarray) -> np.ndarray:
        """Return the energy density (n,), Pa, at each symmetric stretch S. ``parameters`` (n,j): mu, lambda, Pa, and
        further parameters of the energy.
        """
        return self.principal.value(stretch.values, parameters)

    def stretch_stress(self, stretch: Stretch, parameters: np.ndarray) -> np.ndarray:
        """Return the principal stresses per symmetric stretch S, (n,3), Pa: the derivative of the density in the
        eigenframe of S.
        """
        return self.principal.gradient(stretch.values, parameters)

    def stretch_tangent(self, stretch: Stretch, parameters: np.ndarray, projected: bool = True) -> Tangent:
        """Return the second derivative of the density by S, in the eigenframe of S. If ``projected``, it is the nearest
        positive semi-definite one. Its twist is not used, since S is symmetric.
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
    """Return the sum ``total`` of two stretches, or 1e-8 if ``|total|`` is smaller. The result is the denominator of
    the coefficient twist (see the module).
    """
    return 1e-8 if abs(total) < 1e-8 else total


@inner_kernel
def principal_hessian(s, own, slope, second, H, flip, twist):
    """Compute the Hessian of ``own/2 |F|^2 + g(J)`` by the principal stretches s (3,) into H (3,3), and the other
    coefficients of the second variation (see the module) into ``flip`` and ``twist`` (3,).

    ``H_ii = g'' J_i² + own`` and ``H_ij = g'' J_i J_j + g' s_k`` with the third index k and ``J_i = dJ/ds_i``.
    ``slope`` is g' and ``second`` is g'' at J; ``own`` is a coefficient such as mu.
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
    """Compute the principal stresses ``own s_i + slope J_i`` of ``own/2 |F|^2 + g(J)`` into out (3,). ``slope`` is g'
    at J, ``J_i = dJ/ds_i``, and s (3,) are the principal stretches.
    """
    out[0] = own * s[0] + slope * s[1] * s[2]
    out[1] = own * s[1] + slope * s[0] * s[2]
    out[2] = own * s[2] + slope * s[0] * s[1]


@inner_kernel
def ordered(psi):
    """Return the energy density ``psi``, or inf if ``psi`` is NaN (inf - inf after overflow): the line search rejects
    steps to inf, but cannot compare NaN.
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
