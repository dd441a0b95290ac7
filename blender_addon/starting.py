"""How a body and its physical materials begin."""

from __future__ import annotations

import math
from typing import Any

from ..core.materials.presets import PRESETS
from ..core.model.settings import MaterialSettings
from .choices import fitting_unit


def enable(obj: Any) -> None:
    """Turn Sinew on; a body without any material gets the first preset."""
    obj.sinew.enabled = True
    if not obj.sinew.materials:
        add_material(obj, PRESETS[0].name)


def add_material(obj: Any, preset: str) -> Any:
    """Append a physical material made from a preset; the new one is active and has a name of its own."""
    settings = next(p for p in PRESETS if p.name == preset)
    material = obj.sinew.materials.add()
    fill_material(material, settings)
    taken = {m.name for m in list(obj.sinew.materials)[:-1]}
    material.name, k = settings.name, 2
    while material.name in taken:
        material.name, k = f"{settings.name} {k}", k + 1
    obj.sinew.active_material = len(obj.sinew.materials) - 1
    return material


def fill_material(material: Any, settings: MaterialSettings) -> None:
    """Give a material the numbers of ``settings``."""
    material.log_stiffness = math.log10(settings.youngs_modulus)
    material.stiffness_unit = fitting_unit(settings.youngs_modulus)
    material.poissons_ratio = settings.poissons_ratio
    material.density = settings.density
    material.energy = settings.energy
