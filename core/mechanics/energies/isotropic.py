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

from ...foundation.kernels.jit import inner_kernel, parallel_kernel
from .kinematics import Deformation, Stretch
from .tangent import Tangent, project


@dataclass(frozen=True)
class PrincipalFunction:
    """The batch kernels of one file, functions of ``sigma`` (n,3) and the parameters (n,2+), mu, lambda, and what the
    energy has of its own; they write into the arrays behind these.

    They are serial: a millisecond for 100,000 tets beside the rest of an iteration, and less than half to compile.
    """

    fill_value: Callable[..., None]
    fill_gradient: Callable[..., None]
    fill_curvature: Callable[..., None]

    def value(self, sigma: np.ndarray, parameters: np.ndarray) -> np.ndarray:
        """Energy density psi, (n,), Pa."""
        out = np.empty(len(sigma))
        self.fill_value(sigma, parameters, out)
        return out

    def gradient(self, sigma: np.ndarray, parameters: np.ndarray) -> np.ndarray:
        """Principal stresses psi_i, (n,3), Pa."""
        out = np.empty((len(sigma), 3))
        self.fill_gradient(sigma, parameters, out)
        return out

    def curvature(self, sigma: np.ndarray, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """``psi_ij`` (n,3,3), and flip and twist (n,3) of the pairs (2,3), (1,3), (1,2), Pa."""
        out = np.empty((len(sigma), 3, 3)), np.empty((len(sigma), 3)), np.empty((len(sigma), 3))
        self.fill_curvature(sigma, parameters, *out)
        return out


@dataclass(frozen=True)
class IsotropicEnergy:
    """An energy of the registry made from the principal kernels of one file.

    ``own`` names the fields of ``MaterialSettings`` that it takes besides: the columns of its parameters after mu and
    lambda. They are numbers without a unit, so that keyed stiffness scales mu and lambda alone. Where bodies meet, no
    step turns a tet inside out whose energy ``stays_upright``.
    """

    name: str
    label: str
    description: str
    principal: PrincipalFunction
    rotation_invariant: bool = True
    stays_upright: bool = False
    own: tuple[str, ...] = ()

    def value(self, deformation: Deformation, parameters: np.ndarray) -> np.ndarray:
        """Energy density of deformation gradients, (n,), Pa."""
        return self.principal.value(deformation.sigma, parameters)

    def gradient(self, deformation: Deformation, parameters: np.ndarray) -> np.ndarray:
        """First Piola-Kirchhoff stress ``dpsi/dF``, (n,3,3), Pa."""
        g = self.principal.gradient(deformation.sigma, parameters)
        P = np.empty((len(g), 3, 3))
        _rotate_stress(len(g), deformation.U, g, deformation.V, P)
        return P

    def tangent(self, deformation: Deformation, parameters: np.ndarray, projected: bool = True) -> Tangent:
        """Second derivative by F in the frame of the singular vectors; made semi-definite unless told otherwise."""
        U, V, curvature = deformation.U, deformation.V, self.principal.curvature(deformation.sigma, parameters)
        return _tangent(U, V, curvature, projected)

    def stretch_value(self, stretch: Stretch, parameters: np.ndarray) -> np.ndarray:
        """Energy density of symmetric stretches, (n,), Pa."""
        return self.principal.value(stretch.values, parameters)

    def stretch_stress(self, stretch: Stretch, parameters: np.ndarray) -> np.ndarray:
        """Derivative by S in its own frame: principal stresses, (n,3), Pa."""
        return self.principal.gradient(stretch.values, parameters)

    def stretch_tangent(self, stretch: Stretch, parameters: np.ndarray, projected: bool = True) -> Tangent:
        """Second derivative by S in its own frame, where D is symmetric and knows no twist; likewise."""
        return _tangent(stretch.Q, stretch.Q, self.principal.curvature(stretch.values, parameters), projected)


def _tangent(
    U: np.ndarray, V: np.ndarray, curvature: tuple[np.ndarray, np.ndarray, np.ndarray], projected: bool
) -> Tangent:
    if projected:
        project(*curvature)
    return Tangent(U, V, *curvature)


@inner_kernel
def off_zero(total):
    """A sum of two stretches, for the quotient that is the twist: not nearer to its pole than 1e-8."""
    return 1e-8 if abs(total) < 1e-8 else total


@inner_kernel
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


@inner_kernel
def stress_and_volume(s, own, slope, out):
    """The same energy's gradient into out (3,): ``own s_i + slope J_i``."""
    out[0] = own * s[0] + slope * s[1] * s[2]
    out[1] = own * s[1] + slope * s[0] * s[2]
    out[2] = own * s[2] + slope * s[0] * s[1]


@inner_kernel
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
