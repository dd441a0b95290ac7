"""The registry of energies: one line a file. What stands here is offered in interfaces and swept by the tests.

An energy offers ``value``, ``gradient``, ``hessian`` of deformation gradients and ``stretch_value``,
``stretch_gradient``, ``stretch_hessian`` of symmetric stretches (see ``isotropic.IsotropicEnergy``); parameters are the
Lame parameters ``(mu, lambda)``, (n,2), Pa.
"""

from __future__ import annotations

from ..errors import MaterialError
from . import arap, corotated, fixed_corotated, fung, linear, neo_hookean, stable_neo_hookean, stvk
from .isotropic import IsotropicEnergy

ENERGIES: dict[str, IsotropicEnergy] = {
    module.ENERGY.name: module.ENERGY
    for module in (stable_neo_hookean, neo_hookean, fung, fixed_corotated, corotated, arap, stvk, linear)
}


def energy(name: str) -> IsotropicEnergy:
    """The energy of that name; MaterialError names the known ones."""
    if name not in ENERGIES:
        raise MaterialError(f"Unknown energy “{name}”.", f"Choose one of {', '.join(ENERGIES)}.")
    return ENERGIES[name]
