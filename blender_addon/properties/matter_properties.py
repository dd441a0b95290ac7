"""Settings of matter: stiffness, density, elastic energy and plasticity, mirrored from the library's settings.

Physical materials of bodies have them, and Blender materials that carry physical values.
"""

# No ``from __future__ import annotations``: Blender reads the annotations as values.
import math
from typing import Any

import bpy

from ...core.foundation.schema.settings import MaterialSettings
from . import choices
from .mirror import ANIMATED, field_of, menu, mirrored, number, stiffness_of, switch

PLASTICITY = "yield_strain", "creep", "hardening"
"""Names of the properties of plastic materials."""
STIFFNESS_RANGE = field_of(MaterialSettings, "youngs_modulus").metadata["range"]


def _unit_size(material: Any) -> float:
    return next(size for name, _, size in choices.STIFFNESS_UNITS if name == material.stiffness_unit)


def logarithm(label: str, noun: str, default: float) -> Any:
    """Return a property that stores a Young's modulus as its base-10 logarithm."""
    words = f"Base-10 logarithm of Young's modulus in Pa{noun}, for keyframes: 4 is 10 kPa, 6 is 1 MPa, 9 is 1 GPa"
    bounds = {word: math.log10(bound) for word, bound in zip(("min", "max"), STIFFNESS_RANGE)}
    return number(label, words, options=ANIMATED, default=math.log10(default), **bounds)


def in_its_unit(kept: str, label: str, words: str) -> Any:
    """Return a property that shows the Young's modulus stored in ``kept`` in the material's unit."""

    def _get(self: Any) -> float:
        return stiffness_of(getattr(self, kept)) / _unit_size(self)

    def _set(self: Any, value: float) -> None:
        low, high = STIFFNESS_RANGE
        setattr(self, kept, math.log10(min(max(value * _unit_size(self), low), high)))

    return number(label, words, get=_get, set=_set, min=0.0, precision=3, step=100)


class SinewMatter:
    """Stiffness, density, elastic energy and plasticity."""

    # Library overrides are applied in this order, so the unit precedes the value, and the value the stored logarithm.
    stiffness_unit: menu(
        "Unit",
        "Unit in which the stiffness is shown; changing it does not change the stiffness",
        items=[(name, label, f"Show in {label}") for name, label, _ in choices.STIFFNESS_UNITS],
        default="KPA",
    )
    stiffness_value: in_its_unit(
        "log_stiffness",
        "Stiffness",
        "Young's modulus, in the unit beside it: flesh 10-100 kPa, rubber 1-10 MPa, bone 1-20 GPa",
    )
    log_stiffness: logarithm("Log Stiffness", "", field_of(MaterialSettings, "youngs_modulus").default)
    poissons_ratio: mirrored(MaterialSettings, "poissons_ratio", "Poisson's Ratio", precision=3)
    density: mirrored(MaterialSettings, "density", "Density", precision=1)
    energy: mirrored(MaterialSettings, "energy", "Energy", items=choices.energy_items)
    stiffening: mirrored(MaterialSettings, "stiffening", "Stiffening", soft_max=10.0, precision=2)
    yield_strain: mirrored(MaterialSettings, "yield_strain", "Yield Strain", soft_max=1.0, precision=4, step=1)
    creep: mirrored(MaterialSettings, "creep", "Creep", soft_max=100.0, precision=3)
    hardening: mirrored(MaterialSettings, "hardening", "Hardening", soft_max=10.0, precision=3)


class SinewShader(SinewMatter, bpy.types.PropertyGroup):
    """Physical values of a Blender material. They apply to an object when the material is dropped onto it."""

    is_physical: switch(
        "Physical", "This Blender material carries physical values, which a body takes when it is dropped onto the body"
    )
