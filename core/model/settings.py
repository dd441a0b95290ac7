"""Settings of a simulation: frozen dataclasses, SI units, validated on construction.

Interfaces mirror these fields one to one (``blender_addon/properties.py``; a test compares names, ranges and defaults).
The allowed range of a number stands in the field's metadata as ``range=(low, high)``, both ends included; its unit as
``unit``. An open end is None.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from ..errors import MaterialError, SettingsError, SinewError

EARTH = 9.81
"""Gravity, m/s²: what bodies are made for where nothing else is said."""


def _number(default: float | None, low: float | None, high: float | None, unit: str, help: str) -> Any:
    return field(default=default, metadata={"range": (low, high), "unit": unit, "help": help})


def _choice(default: str | bool, help: str) -> Any:
    return field(default=default, metadata={"help": help})


_KINDS: dict[str, tuple[type, type, str]] = {
    "int": (numbers.Integral, int, "a whole number"),
    "float": (numbers.Real, float, "a number"),
    "str": (str, str, "a text"),
    "bool": (bool, bool, "true or false"),
}


def _typed(value: Any, kind: str, error: type[SinewError], what: str) -> Any:
    """A value as Python's own type, so that NumPy's numbers can be written as JSON; no bool passes for a number."""
    accepted, plain, word = _KINDS[kind]
    if not isinstance(value, accepted) or (isinstance(value, bool) and plain is not bool):
        raise error(f"{what} is {value!r}, not {word}.", f"Enter {word}.")
    try:
        return plain(value)
    except OverflowError as overflow:
        raise error(f"{what} is too large.", "Enter a finite number.") from overflow


def _check_ranges(settings: Any, error: type[SinewError], owner: str) -> None:
    """Raise ``error`` where a field has the wrong type or leaves its range."""
    for item in fields(settings):
        what = f"{owner}: {item.name.replace('_', ' ')}"
        value = getattr(settings, item.name)
        if item.type in _KINDS:
            value = _typed(value, item.type, error, what)
            object.__setattr__(settings, item.name, value)
        if "range" not in item.metadata or value is None:
            continue
        low, high = item.metadata["range"]
        if isinstance(value, float) and not math.isfinite(value):
            raise error(f"{what} is {value}.", "Enter a finite number.")
        if (low is not None and value < low) or (high is not None and value > high):
            bounds = " and ".join(
                f"{word} {bound:g}" for word, bound in (("at least", low), ("at most", high)) if bound is not None
            )
            unit = f" {item.metadata['unit']}" if item.metadata["unit"] else ""
            shown = f"{value:g}" if isinstance(value, float) else str(value)
            raise error(f"{what} is {shown}{unit}.", f"Set it to {bounds}{unit}.")


def _acceleration(value: Any) -> tuple[float, float, float]:
    """Three finite numbers, or SettingsError."""
    wrong = SettingsError(f"Solver: gravity is {value!r}.", "Give three finite numbers in m/s².")
    if isinstance(value, str):
        raise wrong
    try:
        parts = tuple(value)
    except TypeError as error:
        raise wrong from error
    parts = tuple(_typed(part, "float", SettingsError, "Solver: a part of gravity") for part in parts)
    if len(parts) != 3 or not all(math.isfinite(part) for part in parts):
        raise wrong
    return parts


@dataclass(frozen=True)
class MaterialSettings:
    """One physical material.

    ``energy`` is a name of the registry in ``core.energies``. With a ``painted_modulus`` the stiffness goes, in its
    logarithm, from ``youngs_modulus`` where the material's stiffness map is 0 to that where it is 1.
    """

    name: str = "Material"
    youngs_modulus: float = _number(5e4, 1.0, 1e15, "Pa", "Stiffness, Pa: flesh 1e4-1e5, rubber 1e6-1e7, bone 1e9-2e10")
    poissons_ratio: float = _number(
        0.45, 0.0, 0.499, "", "How much it keeps its volume, no unit: 0 cork, 0.3 bone, 0.45 flesh"
    )
    density: float = _number(1000.0, 0.1, 1e5, "kg/m³", "Mass per volume, kg/m³: water and flesh 1000, bone 1900")
    energy: str = _choice("stable_neo_hookean", "How stress follows stretch")
    painted_modulus: float | None = _number(
        None, 1.0, 1e15, "Pa", "Stiffness where the stiffness map is painted fully, Pa"
    )

    def __post_init__(self) -> None:
        if self.painted_modulus is not None:
            painted = _typed(self.painted_modulus, "float", MaterialError, f"Material “{self.name}”: painted modulus")
            object.__setattr__(self, "painted_modulus", painted)
        _check_ranges(self, MaterialError, f"Material “{self.name}”")


def moduli(materials: Sequence[MaterialSettings]) -> list[float]:
    """Young's moduli of materials, Pa: of each where its stiffness map is 0, then of each that has one where that map
    is 1.
    """
    painted = [material.painted_modulus for material in materials]
    return [m.youngs_modulus for m in materials] + [modulus for modulus in painted if modulus is not None]


@dataclass(frozen=True)
class DepthSettings:
    """A layer of a body by depth below its surface: ``shell`` from the surface down to ``depth``, ``core`` what is
    deeper. Over ``fade`` below that depth the one goes over into the other.
    """

    kind: str = _choice("shell", "The skin of the body, or what lies deeper")
    depth: float = _number(
        0.02, 0.0, 1e6, "m", "Distance below the surface down to which the skin reaches; 0.001 to 0.1 m"
    )
    fade: float = _number(0.0, 0.0, 1e6, "m", "Distance below that over which skin goes over into core; 0 m is sharp")

    KINDS = ("shell", "core")

    def __post_init__(self) -> None:
        _check_ranges(self, MaterialError, "Depth")
        if self.kind not in self.KINDS:
            raise MaterialError(f"Depth: unknown kind “{self.kind}”.", f"Choose one of {', '.join(self.KINDS)}.")


@dataclass(frozen=True)
class ResolutionSettings:
    """How the body is filled with tetrahedra.

    ``method``: ``lattice`` (body-centred cubic cells around the surface: seconds, any mesh), ``robust`` (fTetWild:
    follows the surface, minutes, any mesh) or ``clean`` (TetGen: keeps every vertex of a closed surface that does not
    cross itself, seconds).
    """

    method: str = _choice("lattice", "How the body is filled with tetrahedra")
    cells_across: int = _number(
        20, 2, 400, "", "Cells along the longest side of the body: 12 to try; Advice tells how many thin parts want"
    )

    finest: float = _number(
        2.0, 1.0, 8.0, "", "How many times smaller cells are where they are painted finer, no unit: 2 to 4"
    )

    METHODS = ("lattice", "robust", "clean")

    def __post_init__(self) -> None:
        _check_ranges(self, SettingsError, "Resolution")
        if self.method not in self.METHODS:
            raise SettingsError(
                f"Resolution: unknown method “{self.method}”.", f"Choose one of {', '.join(self.METHODS)}."
            )


@dataclass(frozen=True, kw_only=True)
class ContactSettings:
    """How a surface that a body runs into holds it: Coulomb's friction coefficient, and the distance from the surface
    at which it begins to push.
    """

    friction: float = _number(0.5, 0.0, 10.0, "", "Coulomb's coefficient, no unit: ice 0.05, wood 0.4, rubber 1")
    thickness: float = _number(
        0.001, 1e-6, 10.0, "m", "Distance from the surface at which it begins to push; 0.0005 to 0.01 m"
    )

    def __post_init__(self) -> None:
        _check_ranges(self, SettingsError, "Collisions")


@dataclass(frozen=True, kw_only=True)
class Ground(ContactSettings):
    """A level floor over all of the plane z = ``height``."""

    height: float = _number(0.0, None, None, "m", "Height of the level floor in the world, m; 0 is the grid")


@dataclass(frozen=True)
class SolverSettings:
    """How time is stepped.

    ``solver`` is a name of the registry in ``core.solvers``, ``integrator`` of that in ``core.integrators``,
    ``linear_solver`` of that in ``core.linear_solvers``; ``gravity`` is an acceleration in m/s². Of the tolerances the
    one that ``stop_rule`` names is used.
    """

    solver: str = _choice("mixed_fem", "Method that computes a step")
    integrator: str = _choice("backward_euler", "Rule of time integration")
    substeps: int = _number(1, 1, 1000, "", "Time steps a frame: 1 for calm scenes, 2 to 8 for violent ones")
    max_iterations: int = _number(
        50, 1, 1000, "", "Iterations a step at most; 50 suffices nearly always, 2 to 5 is quick and stiffer"
    )
    stop_rule: str = _choice("movement", "What ends a step before the most iterations are made")
    tolerance: float = _number(
        1e-5,
        0.0,
        1.0,
        "",
        "Stop a step when no vertex moves more than this part of the body's size; 1e-4 coarse, 1e-6 fine",
    )
    decrement_tolerance: float = _number(
        1e-6,
        0.0,
        None,
        "J",
        "Stop a step when an iteration promises less energy than this (the Newton decrement), J; 1e-6 suits 1 kg",
    )
    acceleration_tolerance: float = _number(
        0.01,
        0.0,
        None,
        "m/s²",
        "Stop a step when no vertex's acceleration changes more than this, m/s²; 0.01 is a thousandth of gravity",
    )
    mass_damping: float = _number(
        0.0,
        0.0,
        1e3,
        "1/s",
        "Drag on every movement, as of water, 1/s; the speed falls to a third in one over it. 0 none, 0.5 to 2 calm",
    )
    stiffness_damping: float = _number(
        0.0, 0.0, 10.0, "s", "Calms deformation and leaves flight and turning alone, s; 0.001 to 0.01, which is much"
    )
    quadratic_finish: bool = _choice(True, "Mixed FEM: finish by Newton once stretches and positions agree")
    linear_solver: str = _choice("automatic", "Solver of the linear systems")
    inner_iterations: int = _number(
        5, 1, 1000, "", "Iterations of conjugate gradients a linear system at most; 5 suffices in most steps"
    )
    modes: int = _number(
        16, 1, 64, "", "Movements of a subspace: 8 for a swing, 16 for a creature, 32 and more for fine bends"
    )
    cubature_points: int = _number(
        0, 0, 100_000, "", "Tets at which a subspace feels its elasticity; 0 for 20 a mode, which is enough"
    )
    damping_factor: float = _number(
        1.0, 0.25, 10.0, "", "Beta of the linearly implicit solver, no unit: 1 as derived, 2 to 4 calmer"
    )
    gravity: tuple[float, float, float] = (0.0, 0.0, -EARTH)

    STOP_RULES = ("movement", "decrement", "acceleration")

    def __post_init__(self) -> None:
        _check_ranges(self, SettingsError, "Solver")
        if self.stop_rule not in self.STOP_RULES:
            raise SettingsError(
                f"Solver: unknown stop rule “{self.stop_rule}”.", f"Choose one of {', '.join(self.STOP_RULES)}."
            )
        object.__setattr__(self, "gravity", _acceleration(self.gravity))
