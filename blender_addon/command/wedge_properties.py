"""Settings of a wedge table as properties of the bodies of a .blend."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import bpy

from ...core.foundation.errors import SettingsError, refusing
from ...core.jobs.wedges.setting_names import Names, Target, setting_names
from ..blend_data.temporary_values import is_animated
from ..scene_import.mesh_in import acceleration_scale

_LENGTHS = {"thickness", "height"}
_NAMES = {
    ("contact", "bodies"): "contact_bodies",
    ("contact", "friction"): "contact_friction",
    ("contact", "thickness"): "contact_thickness",
    ("collider", "friction"): "collider_friction",
    ("material", "youngs_modulus"): "log_stiffness",
    ("material", "painted_modulus"): "log_painted_stiffness",
}
"""Names of properties that differ from the names of the settings."""


def names_of_bodies(bodies: Sequence[Any]) -> Names:
    """Return the names of the settings that the bodies have as properties."""
    names = setting_names((obj.name, [material.name for material in obj.sinew.materials]) for obj in bodies)
    present = {name: [each for each in found if hasattr(*_property(bodies, each))] for name, found in names.items()}
    return {name: found for name, found in present.items() if found}


@contextmanager
def applied(bodies: Sequence[Any], names: Names, settings: Mapping[str, Any]) -> Iterator[None]:
    """Set the properties of the bodies within the context. Raises SettingsError where that would have no effect."""
    before = []
    try:
        for name, value in settings.items():
            for target in names[name]:
                owner, prop = _property(bodies, target)
                _check(bodies[target.body], owner, target, prop)
                before.append((owner, prop, getattr(owner, prop)))
                with refusing(f"{name} cannot be {value!r:.80}", "Choose another value.", SettingsError, _REFUSALS):
                    setattr(owner, prop, _value(target, prop, value))
        yield
    finally:
        for owner, prop, value in reversed(before):
            setattr(owner, prop, value)


_REFUSALS = (TypeError, AttributeError, ValueError, OverflowError)


def _property(bodies: Sequence[Any], target: Target) -> tuple[Any, str]:
    """Return the property group with a setting, and the name of the property."""
    settings = bodies[target.body].sinew
    if target.table == "material":
        owner = settings.materials[target.item]
    else:
        owner = settings if target.table in ("solver", "resolution") else settings.collisions
    return owner, _NAMES.get((target.table, target.field), target.field)


def _check(obj: Any, owner: Any, target: Target, prop: str) -> None:
    own = obj.sinew.collisions
    if target.table == "ground" and not own.use_ground or target.table == "collider" and own.collection is None:
        raise SettingsError(f"“{obj.name}” has no {target.table}.", "Enable it in the panel Collisions.")
    if target.field == "painted_modulus" and not owner.use_range:
        raise SettingsError(f"“{target.where}” of “{obj.name}” has no Painted Range.", "Enable it in the material.")
    if is_animated(owner, prop):
        raise SettingsError(f"{target.where}.{target.field} of “{obj.name}” is animated.", "Remove its keyframes.")


def _value(target: Target, prop: str, value: Any) -> Any:
    if prop.startswith("log_"):
        return math.log10(value)
    return value / acceleration_scale(bpy.context.scene) if target.field in _LENGTHS else value
