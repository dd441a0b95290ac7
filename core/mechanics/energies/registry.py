"""Registry of elastic energies, one module per energy.

Each energy is an ``isotropic.IsotropicEnergy``. The methods ``value``, ``gradient`` and ``tangent`` are functions of
deformation gradients. The methods ``stretch_value``, ``stretch_stress`` and ``stretch_tangent`` are functions of
symmetric stretches. All six methods take ``parameters`` (n,j) for n tets: the Lame parameters mu and lambda, Pa, then
any further parameters of the energy.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

import numpy as np

from ...foundation.errors import MaterialError
from ...foundation.schema.settings import MaterialSettings
from . import arap, corotated, fixed_corotated, fung, linear, neo_hookean, stable_neo_hookean, stvk
from .isotropic import IsotropicEnergy

ENERGIES: dict[str, IsotropicEnergy] = {
    module.ENERGY.name: module.ENERGY
    for module in (stable_neo_hookean, neo_hookean, fung, fixed_corotated, corotated, arap, stvk, linear)
}


def energy(name: str) -> IsotropicEnergy:
    """Return the energy with this name. Raises MaterialError if no energy has this name."""
    if name not in ENERGIES:
        raise MaterialError(f"Unknown energy “{name}”.", f"Choose one of {', '.join(ENERGIES)}.")
    return ENERGIES[name]


def check_energy(material: MaterialSettings) -> None:
    """Check that the energy of a material exists, and that the material may flow if it is plastic."""
    law = energy(material.energy)
    if material.yield_strain and not law.rotation_invariant:
        raise MaterialError(
            f"Material “{material.name}” is plastic, but its energy “{material.energy}” takes rotations for strain.",
            "Choose another energy, such as stable_neo_hookean, or set the yield strain to 0.",
        )


def own_parameters(materials: Sequence[MaterialSettings]) -> np.ndarray:
    """Return the energy parameters of k materials besides mu and lambda, (k,j).

    The columns are in the order of ``IsotropicEnergy.own``. Rows of energies with fewer parameters are padded with
    zeros.
    """
    rows = [[getattr(material, name) for name in energy(material.energy).own] for material in materials]
    return np.array(list(zip_longest(*rows, fillvalue=0.0)), dtype=np.float64).reshape(-1, len(rows)).T
