"""As-rigid-as-possible: resists stretch, knows no volume.

    psi = mu |S - I|^2

Chao et al. 2010, "A Simple Geometric Model for Elastic Deformations". The corotated energy with lambda = 0.
"""

from __future__ import annotations

import numpy as np

from .corotated_stretch import quadratic_curvature, quadratic_gradient, quadratic_value
from .isotropic import IsotropicEnergy, PrincipalFunction


def _without_lambda(parameters: np.ndarray) -> np.ndarray:
    return np.column_stack([parameters[:, 0], np.zeros(len(parameters))])


def _value(sigma: np.ndarray, parameters: np.ndarray) -> np.ndarray:
    return quadratic_value(sigma, _without_lambda(parameters))


def _gradient(sigma: np.ndarray, parameters: np.ndarray) -> np.ndarray:
    return quadratic_gradient(sigma, _without_lambda(parameters))


def _curvature(sigma: np.ndarray, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return quadratic_curvature(sigma, _without_lambda(parameters))


ENERGY = IsotropicEnergy(
    name="arap",
    label="As-Rigid-As-Possible",
    description="Cartoon bodies: resists stretch alone, Poisson's ratio has no effect",
    principal=PrincipalFunction(_value, _gradient, _curvature),
)
