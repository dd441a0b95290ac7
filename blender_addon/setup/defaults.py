"""Defaults of new bodies, physical materials and springs."""

from __future__ import annotations

import dataclasses
import math
import secrets
from typing import Any

from ...core.foundation.errors import MaterialError
from ...core.foundation.schema.muscle_settings import MuscleSettings
from ...core.foundation.schema.settings import MaterialSettings
from ...core.mechanics.materials.presets import PRESETS
from ..blend_data.item_lists import own_name
from ..properties.choices import energy_items, fitting_unit
from ..properties.matter_properties import PLASTICITY
from ..properties.outside_properties import SinewSpring
from ..properties.own_presets import own_presets
from .body_stats import is_suitable, suitable_modulus
from .measure_in import forget, weight_and_size

FIRST_PRESET = PRESETS[0].name
"""Preset of the material of a new body."""
SAG = 0.01
"""Stretch of a new spring under the body's weight, as a fraction of the body's size."""


def enable(obj: Any, context: Any) -> None:
    """Enable Sinew for an object, and add a material if the object has none.

    The material is the first built-in preset, with a stiffness fitted to the object's size. A user preset of the same
    name takes precedence, and is added unchanged.
    """
    switch_on(obj)
    if not obj.sinew.materials:
        add_material(obj, FIRST_PRESET)
        if all(own.name != FIRST_PRESET for own in own_presets().materials):
            fit_stiffness(obj, context)


def fit_stiffness(obj: Any, context: Any) -> None:
    """Set the first material's stiffness to :func:`suitable_modulus`. A body without volume is left unchanged."""
    forget(obj)
    if modulus := suitable_modulus(obj, context):
        material = obj.sinew.materials[0]
        material.log_stiffness = material.fitted = math.log10(modulus)
        material.stiffness_unit = fitting_unit(modulus)


def refit_stiffness(obj: Any, context: Any) -> None:
    """Fit the first material's stiffness again after an edit of size or pins. A stiffness set by the user is kept."""
    if obj.sinew.materials and obj.sinew.materials[0].is_fitted:
        forget(obj)
        if not is_suitable(obj, context):
            fit_stiffness(obj, context)


def switch_on(obj: Any) -> None:
    """Enable Sinew for ``obj``, and give it a random identity if it has none.

    The identity tells the object's baked frames from the frames of a deleted object of the same name.
    """
    obj.sinew.enabled = True
    obj.sinew.identity = obj.sinew.identity or secrets.token_hex(4)


def add_material(obj: Any, preset: str) -> Any:
    """Append a physical material from a preset, make it active and return it.

    The material gets a unique name. Raises MaterialError if the preset's energy is unknown.
    """
    return append_material(obj, preset_settings(preset))


def preset_settings(preset: str) -> MaterialSettings:
    """Return the settings of the preset with this name. A user preset takes precedence over a built-in preset.

    Raises MaterialError if the preset's energy is unknown.
    """
    settings = next(p for p in (*own_presets().materials, *PRESETS) if p.name == preset)
    if settings.energy not in [item[0] for item in energy_items()]:
        raise MaterialError(
            f"The preset “{preset}” has an energy “{settings.energy}”, which this version does not know.",
            "Save the preset again, or install a newer version.",
        )
    return settings


def append_material(obj: Any, settings: MaterialSettings) -> Any:
    """Append a physical material with these settings, make it active and return it. The material gets a unique name."""
    material = obj.sinew.materials.add()
    fill_material(material, settings)
    taken = {m.name for m in list(obj.sinew.materials)[:-1]}
    material.name = own_name(settings.name, taken)
    obj.sinew.active_material = len(obj.sinew.materials) - 1
    return material


def add_spring(obj: Any, scene: Any) -> Any:
    """Append a spring strong enough to carry the body, make it active and return it. The spring gets a unique name."""
    springs, strength = obj.sinew.springs, holding_strength(obj, scene)
    taken = {spring.name for spring in springs}
    spring = springs.add()
    spring.name = own_name("Spring", taken)
    spring.strength = strength
    obj.sinew.active_spring = len(springs) - 1
    return spring


def holding_strength(obj: Any, scene: Any) -> float:
    """Return the strength of a spring that carries the body, N/m.

    With this strength, rounded to two digits, the body's weight stretches the spring by the fraction ``SAG`` of the
    body's longest side. An unknown weight returns the default strength.
    """
    weight, size = weight_and_size(obj, scene)
    if weight <= 0.0:
        return SinewSpring.bl_rna.properties["strength"].default
    return float(f"{weight / (SAG * size):.2g}")


def fill_material(material: Any, settings: MaterialSettings) -> None:
    """Copy ``settings`` to a material of a body. The stiffness counts as not fitted to the body's size."""
    material.property_unset("fitted")
    fill_matter(material, settings)
    material.use_range = settings.painted_modulus is not None
    if settings.painted_modulus is not None:
        material.log_painted_stiffness = math.log10(settings.painted_modulus)


def fill_matter(matter: Any, settings: MaterialSettings) -> None:
    """Copy stiffness, density, energy and plasticity to a physical material, or to the values of a Blender material."""
    matter.log_stiffness = math.log10(settings.youngs_modulus)
    matter.stiffness_unit = fitting_unit(settings.youngs_modulus)
    for name in ("poissons_ratio", "density", "energy", "stiffening", *PLASTICITY):
        setattr(matter, name, getattr(settings, name))


def fill_muscle(muscle: Any, settings: MuscleSettings) -> None:
    """Switch a muscle on and copy ``settings`` to it. Its fibres and activation are kept."""
    muscle.enabled = True
    for field in dataclasses.fields(settings):
        setattr(muscle, field.name, getattr(settings, field.name))
