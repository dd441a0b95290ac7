"""Corotated: the linear energy of the stretch, after each tet's rotation is taken out.

    psi = mu |S - I|^2 + lambda/2 tr(S - I)^2

Müller, Gross 2004, "Interactive Virtual Materials". The linear energy's stretch form is this one.

Trap: the volume term knows the trace alone, so a squeeze to nothing costs no more than Hooke's law says;
``fixed_corotated`` knows the true volume.
"""

from __future__ import annotations

from .corotated_stretch import quadratic_curvature, quadratic_gradient, quadratic_value
from .isotropic import IsotropicEnergy, PrincipalFunction

ENERGY = IsotropicEnergy(
    name="corotated",
    label="Corotated",
    description="Stiff bodies that turn and bend: Hooke's law beside the rotation, cheap and calm",
    principal=PrincipalFunction(quadratic_value, quadratic_gradient, quadratic_curvature),
)
