"""Enum items made from the library's registries, such as energies, solvers and integrators.

A registry is imported on first use, since it imports Numba, which would delay Blender's start. The number of each item
is a checksum of its name, so that saved .blend files remain valid when a registry grows or is reordered.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Iterable, Mapping
from typing import Any

from ...core.foundation.schema.settings import MaterialSettings
from ...core.foundation.schema.solver_kinds import NEWTON, SOLVER_KINDS, SolverKind, live_solver
from ..translations.translate import marked, translated
from .own_presets import own_presets

Items = tuple[tuple[str, str, str, int], ...]
OWN = "OWN"
"""Identifier of the enum item *Same as Body*: the comparison bake uses the body's setting."""
AUTOMATIC = "AUTOMATIC"
_AS_BODY = OWN, "Same as Body", "Use the same setting as the body"


def number_of(name: str) -> int:
    """Return the integer that Blender stores for the enum item with the identifier ``name``."""
    return zlib.crc32(name.encode()) & 0x7FFFFFFF


@functools.lru_cache(maxsize=32)
def _kept(items: Items) -> Items:
    """Return a cached copy of ``items``: Blender does not copy the strings of dynamic enum items."""
    return items


def _menu(words: Iterable[tuple[str, str, str]]) -> Items:
    """Return enum items from triples of identifier, label and description."""
    return _kept(tuple((*each, number_of(each[0])) for each in words))


def _words_of(registry: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    return [(name, entry.label, entry.description) for name, entry in registry.items()]


def _integrators() -> list[tuple[str, str, str]]:
    from ...core.numerics.integrators.registry import RULES

    return [(name, rule.LABEL, rule.DESCRIPTION) for name, rule in RULES.items()]


def energy_items(owner: Any = None, context: Any = None) -> Items:
    """Return the enum items of the material energies."""
    from ...core.mechanics.energies.registry import ENERGIES

    return _menu(_words_of(ENERGIES))


def fibre_law_items(owner: Any = None, context: Any = None) -> Items:
    """Return the enum items of the fibre laws."""
    from ...core.mechanics.fibres.registry import LAWS

    return _menu(_words_of(LAWS))


def muscle_preset_items(owner: Any = None, context: Any = None) -> Items:
    """Return the enum items of the muscle presets."""
    from ...core.mechanics.fibres.presets import PRESETS

    return _menu((preset.name, preset.name, preset.words) for preset in PRESETS)


def own_parameters(energy: str) -> tuple[str, ...]:
    """Return the names of the additional material settings of an energy. The tuple is empty for an unknown energy."""
    from ...core.mechanics.energies.registry import ENERGIES

    return ENERGIES[energy].own if energy in ENERGIES else ()


def solver_items(owner: Any = None, context: Any = None) -> Items:
    """Return the enum items of the solvers."""
    return _menu(_words_of(SOLVER_KINDS))


def solver_kind(solver: str) -> SolverKind:
    """Return the solver kind named ``solver``. An unknown name returns a new kind with default properties."""
    return SOLVER_KINDS.get(solver, SolverKind(solver, solver, ""))


def live_solver_items(owner: Any = None, context: Any = None) -> Items:
    """Return the enum items of the solvers for live mode."""
    label = live_solver().label
    words = marked("The body's solver if it is fast enough for live mode, else {solver}")
    automatic = AUTOMATIC, "Automatic", translated(words, solver=translated(label))
    return _menu([automatic, *_words_of({name: kind for name, kind in SOLVER_KINDS.items() if kind.plays_live})])


def live_solver_name(settings: Any) -> str:
    """Return the name of the solver that a body uses in live mode.

    Automatic stands for the body's solver if it is fast enough, and else for the default of live mode.
    """
    chosen = settings.live.solver
    if chosen != AUTOMATIC:
        return chosen
    return settings.solver if solver_kind(settings.solver).plays_live else live_solver().name


def is_matched(settings: Any) -> bool:
    """Return True if a body's vibrations are matched to its full mesh or to a finer mesh."""
    return settings.match_resolution or settings.match_full_space and solver_kind(settings.solver).takes_modes


def has_vibrations(settings: Any) -> bool:
    """Return True if a body's vibrations are computed, for matching or for control."""
    return settings.control_vibrations or is_matched(settings)


def integrator_items(owner: Any = None, context: Any = None) -> Items:
    """Return the enum items of the time integration rules."""
    return _menu(_integrators())


def integrator_label(name: str) -> str:
    """Return the label of a time integration rule, or the name of an unknown rule."""
    return next((label for each, label, _words in _integrators() if each == name), name)


def own_of_integrator(name: str) -> tuple[str, ...]:
    """Return the names of the settings that only one time integration rule reads. The tuple is empty for an unknown
    rule.
    """
    from ...core.numerics.integrators.registry import RULES

    return RULES[name].OWN if name in RULES else ()


def compared_solver_items(owner: Any = None, context: Any = None) -> Items:
    """Return the enum items of the solvers for a comparison bake."""
    words = marked("The body's solver if settings or body differ from those of the bake, else {solver}")
    automatic = AUTOMATIC, "Automatic", translated(words, solver=translated(NEWTON.label))
    return _menu([automatic, _AS_BODY, *_words_of(SOLVER_KINDS)])


def compared_solver_names(settings: Any) -> tuple[str, ...]:
    """Return the names of solvers to try for a comparison bake, in this order.

    The comparison uses the first solver whose job differs from that of the bake.
    """
    chosen = settings.compare.solver
    if chosen == AUTOMATIC:
        return settings.solver, NEWTON.name
    return (settings.solver if chosen == OWN else chosen,)


MATCHES = (
    _AS_BODY,
    ("ON", "On", "Match the ghost's vibrations, even if the body's vibrations are not matched"),
    ("OFF", "Off", "Leave the ghost's vibrations unmatched"),
)
"""Enum items of the settings that match vibrations in a comparison bake."""


def _match_methods() -> list[tuple[str, str, str]]:
    from ...core.methods.eigenfit.methods import MENU

    return [(name, *words) for name, words in MENU.items()]


def match_method_items(owner: Any = None, context: Any = None) -> Items:
    """Return the enum items of the methods that match a body's vibrations."""
    return _menu(_match_methods())


def compared_match_method_items(owner: Any = None, context: Any = None) -> Items:
    """Return the enum items of the matching methods for a comparison bake."""
    return _menu([_AS_BODY, *_match_methods()])


def compared_integrator_items(owner: Any = None, context: Any = None) -> Items:
    """Return the enum items of the time integration rules for a comparison bake."""
    return _menu([_AS_BODY, *_integrators()])


_asking = False


def linear_solver_items(owner: Any = None, context: Any = None) -> Items:
    """Return the enum items of the installed linear solvers, and of the chosen linear solver."""
    from ...core.numerics.linear_solvers import registry

    global _asking
    missing: set[str] = set()
    if owner is not None and not _asking:
        _asking = True  # reading the property calls this function again
        try:
            chosen = owner.linear_solver
        finally:
            _asking = False
        missing = {s.name for s in registry.DIRECT_SOLVERS if s.name != chosen and not registry.installed(s)}
    return _menu((name, *words) for name, words in registry.LINEAR_SOLVERS.items() if name not in missing)


def preset_items(owner: Any = None, context: Any = None) -> Items:
    """Return the enum items of Sinew's material presets, then of the user's. A user's preset replaces one of the same
    name.
    """
    from ...core.mechanics.materials.presets import PRESETS

    own = own_presets().materials
    names = {preset.name for preset in own}
    return _presets((*(preset for preset in PRESETS if preset.name not in names), *own))


def own_preset_items() -> Items:
    """Return the enum items of the user's material presets."""
    return _presets(own_presets().materials)


def _presets(presets: Iterable[MaterialSettings]) -> Items:
    return _menu(
        (
            p.name,
            p.name,
            translated(
                "{stiffness}, Poisson's ratio {ratio:g}, {density:g} kg/m³",
                stiffness=pascals(p.youngs_modulus),
                ratio=p.poissons_ratio,
                density=p.density,
            ),
        )
        for p in presets
    )


# Identifier, label, and size of the unit in Pa.
STIFFNESS_UNITS = (("PA", "Pa", 1.0), ("KPA", "kPa", 1e3), ("MPA", "MPa", 1e6), ("GPA", "GPa", 1e9))


def fitting_unit(stiffness: float) -> str:
    """Return the identifier of the largest unit in which ``stiffness``, Pa, is at least 1. The smallest unit is PA."""
    return next((name for name, _, size in reversed(STIFFNESS_UNITS) if stiffness >= size), "PA")


def pascals(stiffness: float) -> str:
    """Format a stiffness in Pa: ``50 kPa (50,000 Pa)``."""
    name = fitting_unit(stiffness)
    label, size = next((label, size) for identifier, label, size in STIFFNESS_UNITS if identifier == name)
    exact = f"{stiffness:,.0f} Pa"
    return exact if name == "PA" else f"{stiffness / size:.5g} {label} ({exact})"
