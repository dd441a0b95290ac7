"""ARAP (as-rigid-as-possible) energy: resists stretch only, Poisson's ratio has no effect.

    psi = mu |S - I|^2

with the stretch ``S = R^T F`` (polar decomposition F = R S), the identity I and the Lame parameter mu, Pa: the
corotated energy with lambda = 0. Chao et al. 2010, "A Simple Geometric Model for Elastic Deformations".
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .corotated_stretch import quadratic_curvature, quadratic_gradient, quadratic_value
from .isotropic import IsotropicEnergy, PrincipalFunction


def _without_lambda(kernel: Callable[..., None]) -> Callable[..., None]:
    def fill(sigma: np.ndarray, parameters: np.ndarray, *out: np.ndarray) -> None:
        kernel(sigma, np.column_stack([parameters[:, 0], np.zeros(len(parameters))]), *out)

    return fill


ENERGY = IsotropicEnergy(
    name="arap",
    label="As-Rigid-As-Possible",
    description="Cartoon bodies: resists stretch alone, Poisson's ratio has no effect",
    principal=PrincipalFunction(*map(_without_lambda, (quadratic_value, quadratic_gradient, quadratic_curvature))),
)
