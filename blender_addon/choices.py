"""Menus whose entries come from the library's registries, so that interfaces need not import the library.

The items are made on first sight, since the registries load Numba, which Blender's start should not wait for. Each
entry's number is a checksum of its name: a .blend keeps meaning the same when a registry grows or changes its order.
"""

from __future__ import annotations

import functools
import zlib
from typing import Any

Items = tuple[tuple[str, str, str, int], ...]
OWN = "OWN"
"""Entry of menus that leaves a choice as the body has it."""


def number_of(name: str) -> int:
    """The number that Blender stores for an entry."""
    return zlib.crc32(name.encode()) & 0x7FFFFFFF


def _items(registry: dict[str, Any]) -> Items:
    return tuple((name, entry.label, entry.description, number_of(name)) for name, entry in registry.items())


@functools.cache
def _energies() -> Items:
    from ..core.energies.registry import ENERGIES

    return _items(ENERGIES)


@functools.cache
def _solvers() -> Items:
    from ..core.solvers.registry import SOLVERS

    return _items(SOLVERS)


@functools.cache
def _integrators() -> Items:
    from ..core.integrators.registry import INTEGRATORS

    return tuple((name, rule.LABEL, rule.DESCRIPTION, number_of(name)) for name, rule in INTEGRATORS.items())


@functools.cache
def _linear_solvers(left_out: frozenset[str] = frozenset()) -> Items:
    from ..core.linear_solvers.registry import LINEAR_SOLVERS

    kept = {name: words for name, words in LINEAR_SOLVERS.items() if name not in left_out}
    return tuple((name, label, about, number_of(name)) for name, (label, about) in kept.items())


@functools.cache
def _presets() -> Items:
    from ..core.materials.presets import PRESETS

    return tuple((p.name, p.name, _summary(p), number_of(p.name)) for p in PRESETS)


def _summary(preset: Any) -> str:
    stiffness = pascals(preset.youngs_modulus)
    return f"{stiffness}, Poisson's ratio {preset.poissons_ratio:g}, {preset.density:g} kg/m³"


def energy_items(owner: Any = None, context: Any = None) -> Items:
    """Items callback: the energies a material may have."""
    return _energies()


def solver_items(owner: Any = None, context: Any = None) -> Items:
    """Items callback: the methods that compute a step."""
    return _solvers()


def in_subspace(solver: str) -> bool:
    """Whether a solver works in a subspace; not one that this version does not know."""
    from ..core.solvers.registry import SOLVERS

    return solver in SOLVERS and SOLVERS[solver].space == "subspace"


def integrator_items(owner: Any = None, context: Any = None) -> Items:
    """Items callback: the rules of time integration."""
    return _integrators()


@functools.cache
def _or_own(items: Items) -> Items:
    return ((OWN, "As the Body", "What the body itself is set to", number_of(OWN)), *items)


def compared_solver_items(owner: Any = None, context: Any = None) -> Items:
    """Items callback: the same for a bake that is compared with the body's own."""
    return _or_own(_solvers())


def compared_integrator_items(owner: Any = None, context: Any = None) -> Items:
    """Items callback: the same for rules of time integration."""
    return _or_own(integrator_items())


_asking = False


def linear_solver_items(owner: Any = None, context: Any = None) -> Items:
    """Items callback: the solvers of linear systems that can be used here, and that which is chosen, wherever the file
    was made.
    """
    from ..core.linear_solvers import registry

    global _asking
    if owner is None or _asking:
        return _linear_solvers()
    _asking = True  # reading the choice asks for the items again
    try:
        chosen = owner.linear_solver
    finally:
        _asking = False
    missing = {s.name for s in registry.DIRECT_SOLVERS if s.name != chosen and not registry.installed(s)}
    return _linear_solvers(frozenset(missing))


def preset_items(owner: Any = None, context: Any = None) -> Items:
    """Items callback: the physical materials offered in menus, the artist's own after ours; own ones of the same name
    take the place of ours.
    """
    own = own_preset_items()
    names = {item[0] for item in own}
    return _kept((*(item for item in _presets() if item[0] not in names), *own))


def own_preset_items() -> Items:
    """The artist's own physical materials, as items."""
    from .own_presets import own_presets

    return tuple((p.name, p.name, _summary(p), number_of(p.name)) for p in own_presets().materials)


def refused_presets() -> tuple[str, ...]:
    """What to say of the artist's own presets that cannot be read."""
    from .own_presets import own_presets

    return own_presets().refused


@functools.lru_cache(maxsize=8)
def _kept(items: Items) -> Items:
    """Equal items as the same objects: Blender keeps no copy of the words in a menu."""
    return items


# Identifier, shown unit, pascals in it.
STIFFNESS_UNITS = (("PA", "Pa", 1.0), ("KPA", "kPa", 1e3), ("MPA", "MPa", 1e6), ("GPA", "GPa", 1e9))


def fitting_unit(stiffness: float) -> str:
    """Identifier of the largest unit in which ``stiffness`` (Pa) is at least one."""
    return next((name for name, _, size in reversed(STIFFNESS_UNITS) if stiffness >= size), "PA")


def pascals(stiffness: float) -> str:
    """A stiffness in words: ``50 kPa (50,000 Pa)``."""
    name = fitting_unit(stiffness)
    label, size = next((label, size) for identifier, label, size in STIFFNESS_UNITS if identifier == name)
    exact = f"{stiffness:,.0f} Pa"
    return exact if name == "PA" else f"{stiffness / size:.5g} {label} ({exact})"
