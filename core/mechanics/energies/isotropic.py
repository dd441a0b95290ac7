"""Isotropic energy from a function of the principal stretches: F and stretch forms, exact and projected Hessians.

An energy that depends on F through its signed singular values only, ``psi(sigma)``, has in their frame (``D = U^T dF
V``) the second variation

    sum_ij psi_ij D_ii D_jj  +  sum_{i<j} flip_ij (D_ij + D_ji)^2 / 2  +  sum_{i<j} twist_ij (D_ij - D_ji)^2 / 2
    flip_ij = (psi_i - psi_j) / (sigma_i - sigma_j),      twist_ij = (psi_i + psi_j) / (sigma_i + sigma_j)

with ``psi_i = dpsi/dsigma_i`` (Smith, de Goes, Kim 2019, "Analytic Eigensystems for Isotropic Distortion Energies"). As
a function of a symmetric S, D is symmetric and only ``psi_ij`` and ``flip_ij`` remain. Clamping flip, twist and the
eigenvalues of psi_ij at zero projects to the nearest semi-definite matrix in the Frobenius norm of dF or dS,
independent of the axes.

Trap: write flip and twist in closed form in each energy; the quotients above cancel where stretches coincide.
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
    """Kernels of one energy, for n tets: functions of the principal stretches ``sigma`` (n,3) and of the parameters mu,
    lambda and further parameters of the energy, (n,2+).

    They write into their last arguments. They run serially: this takes 1 ms for 100,000 tets, and halves compile time.
    """

    fill_value: Callable[..., None]
    fill_gradient: Callable[..., None]
    fill_curvature: Callable[..., None]

    def value(self, sigma: np.ndarray, parameters: np.ndarray) -> np.ndarray:
        """Return the energy density psi, (n,), Pa."""
        out = np.empty(len(sigma))
        self.fill_value(sigma, parameters, out)
        return out

    def gradient(self, sigma: np.ndarray, parameters: np.ndarray) -> np.ndarray:
        """Return the principal stresses psi_i, (n,3), Pa."""
        out = np.empty((len(sigma), 3))
        self.fill_gradient(sigma, parameters, out)
        return out

    def curvature(self, sigma: np.ndarray, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return ``psi_ij`` (n,3,3), and flip and twist (n,3) of the pairs (2,3), (1,3), (1,2), Pa."""
        out = np.empty((len(sigma), 3, 3)), np.empty((len(sigma), 3)), np.empty((len(sigma), 3))
        self.fill_curvature(sigma, parameters, *out)
        return out


@dataclass(frozen=True)
class IsotropicEnergy:
    """Energy of the registry, made from the principal kernels of one file.

    ``own`` names the further fields of ``MaterialSettings`` that the energy uses: the columns of its parameters after
    mu and lambda. They are dimensionless, so animated stiffness scales mu and lambda only. With contact between bodies,
    steps are limited so that no tet inverts if its energy ``prevents_inversion``.
    """

    name: str
    label: str
    description: str
    principal: PrincipalFunction
    rotation_invariant: bool = True
    prevents_inversion: bool = False
    own: tuple[str, ...] = ()

    def value(self, deformation: Deformation, parameters: np.ndarray) -> np.ndarray:
        """Return the energy density at deformation gradients, (n,), Pa."""
        return self.principal.value(deformation.sigma, parameters)

    def gradient(self, deformation: Deformation, parameters: np.ndarray) -> np.ndarray:
        """Return the first Piola-Kirchhoff stress ``dpsi/dF``, (n,3,3), Pa."""
        g = self.principal.gradient(deformation.sigma, parameters)
        P = np.empty((len(g), 3, 3))
        _rotate_stress(len(g), deformation.U, g, deformation.V, P)
        return P

    def tangent(self, deformation: Deformation, parameters: np.ndarray, projected: bool = True) -> Tangent:
        """Return the second derivative by F in the frame of the singular vectors, semi-definite if ``projected``."""
        U, V, curvature = deformation.U, deformation.V, self.principal.curvature(deformation.sigma, parameters)
        return _tangent(U, V, curvature, projected)

    def stretch_value(self, stretch: Stretch, parameters: np.ndarray) -> np.ndarray:
        """Return the energy density at symmetric stretches, (n,), Pa."""
        return self.principal.value(stretch.values, parameters)

    def stretch_stress(self, stretch: Stretch, parameters: np.ndarray) -> np.ndarray:
        """Return the derivative of the density by S in its eigenframe: the principal stresses, (n,3), Pa."""
        return self.principal.gradient(stretch.values, parameters)

    def stretch_tangent(self, stretch: Stretch, parameters: np.ndarray, projected: bool = True) -> Tangent:
        """Return the second derivative by S in its eigenframe, semi-definite if ``projected``; twist is unused."""
        return _tangent(stretch.Q, stretch.Q, self.principal.curvature(stretch.values, parameters), projected)


def _tangent(
    U: np.ndarray, V: np.ndarray, curvature: tuple[np.ndarray, np.ndarray, np.ndarray], projected: bool
) -> Tangent:
    if projected:
        project(*curvature)
    return Tangent(U, V, *curvature)


@inner_kernel
def off_zero(total):
    """Return a sum of two stretches, kept at least 1e-8 from zero, the pole of the twist."""
    return 1e-8 if abs(total) < 1e-8 else total


@inner_kernel
def principal_hessian(s, own, slope, second, H, flip, twist):
    """Compute the curvature of ``own/2 |F|^2 + g(J)`` at principal stretches s (3,) into H (3,3), flip and twist (3,):
    ``second J_i J_j``, plus ``own`` on the diagonal and ``slope s_k`` off it, with ``slope = g'`` and ``second = g''``.
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
    """Compute the principal stresses ``own s_i + g' J_i`` of ``own/2 |F|^2 + g(J)`` into out (3,); ``slope`` is g'."""
    out[0] = own * s[0] + slope * s[1] * s[2]
    out[1] = own * s[1] + slope * s[0] * s[2]
    out[2] = own * s[2] + slope * s[0] * s[1]


@inner_kernel
def ordered(psi):
    """Return an energy density, or inf for NaN: after overflow, inf - inf has no order and breaks the line search."""
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
