"""Linear elasticity for small displacements, for comparison with theory.

    psi = mu eps : eps + lambda/2 tr(eps)^2,     eps = (F + F^T)/2 - I

with the small strain eps, the identity I and the Lame parameters mu, lambda, Pa.

Trap: the energy is not rotation invariant, so a rotated body swells. As a function of a stretch S (Mixed FEM), S - I
replaces eps, and the energy is then the corotated energy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .corotated_stretch import quadratic_curvature, quadratic_gradient, quadratic_value
from .isotropic import IsotropicEnergy, PrincipalFunction
from .kinematics import Deformation
from .tangent import Tangent


def _strain(F: np.ndarray) -> np.ndarray:
    return 0.5 * (F + F.transpose(0, 2, 1)) - np.eye(3)


@dataclass(frozen=True)
class LinearEnergy(IsotropicEnergy):
    """Linear elastic energy.

    As a function of F, the energy is quadratic in the small strain ``(F + F^T)/2 - I``. As a function of a symmetric
    stretch, the energy equals the corotated energy.
    """

    rotation_invariant: bool = False

    def value(self, deformation: Deformation, parameters: np.ndarray) -> np.ndarray:
        """Return the energy density at each deformation gradient, (n,) Pa. ``parameters`` (n,2), Pa: mu and lambda."""
        strain = _strain(deformation.F)
        trace = np.trace(strain, axis1=1, axis2=2)
        return parameters[:, 0] * np.einsum("nij,nij->n", strain, strain) + 0.5 * parameters[:, 1] * trace**2

    def gradient(self, deformation: Deformation, parameters: np.ndarray) -> np.ndarray:
        """Return the stress ``dpsi/dF`` at each deformation gradient F, (n,3,3) Pa."""
        strain = _strain(deformation.F)
        trace = np.trace(strain, axis1=1, axis2=2)
        return 2.0 * parameters[:, 0, None, None] * strain + (parameters[:, 1] * trace)[:, None, None] * np.eye(3)

    def tangent(self, deformation: Deformation, parameters: np.ndarray, projected: bool = True) -> Tangent:
        """Return the second derivative of the density by F, in world axes.

        The second derivative is constant, and semi-definite without projection.
        """
        n = len(parameters)
        axes = np.tile(np.eye(3), (n, 1, 1))
        mu, lam = parameters[:, 0], parameters[:, 1]
        curvature = 2.0 * mu[:, None, None] * np.eye(3) + lam[:, None, None]
        return Tangent(axes, axes, curvature, np.tile(2.0 * mu[:, None], 3), np.zeros((n, 3)))


ENERGY = LinearEnergy(
    name="linear",
    label="Linear",
    description="Small displacements only, to compare with theory: a rotated body swells; Mixed FEM uses the corotated "
    "energy instead",
    principal=PrincipalFunction(quadratic_value, quadratic_gradient, quadratic_curvature),
)
