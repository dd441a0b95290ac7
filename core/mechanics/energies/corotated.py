"""Corotated energy: linear elasticity of the stretch, with each tet's rotation removed.

    psi = mu |S - I|^2 + lambda/2 tr(S - I)^2

with the stretch ``S = R^T F`` (polar decomposition F = R S), the identity I and the Lame parameters mu, lambda, Pa.
Müller, Gross 2004, "Interactive Virtual Materials". At a given stretch S, the energy ``linear`` has the same psi.

Trap: the volume term uses the trace of S, so compression to zero volume costs no more than in Hooke's law;
``fixed_corotated`` uses J.
"""

from __future__ import annotations

from .corotated_stretch import quadratic_curvature, quadratic_gradient, quadratic_value
from .isotropic import IsotropicEnergy, PrincipalFunction

ENERGY = IsotropicEnergy(
    name="corotated",
    label="Corotated",
    description="Stiff bodies that rotate and bend: Hooke's law in the rotated frame, at low cost",
    principal=PrincipalFunction(quadratic_value, quadratic_gradient, quadratic_curvature),
)
