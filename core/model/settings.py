"""Settings of a simulation: frozen dataclasses, SI units, validated on construction.

Interfaces mirror these fields one to one (``blender_addon/properties.py``; a test compares names, ranges and defaults).
The allowed range of a number stands in the field's metadata as ``range=(low, high)``, both ends included; its unit as
``unit``. An open end is None.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import Any

from ..errors import MaterialError, SettingsError, SinewError


def _number(default: float, low: float | None, high: float | None, unit: str, help: str) -> Any:
    return field(default=default, metadata={"range": (low, high), "unit": unit, "help": help})


def _choice(default: str | bool, help: str) -> Any:
    return field(default=default, metadata={"help": help})


def _check_ranges(settings: Any, error: type[SinewError], owner: str) -> None:
    for item in fields(settings):
        if "range" not in item.metadata:
            continue
        low, high = item.metadata["range"]
        value = getattr(settings, item.name)
        name = item.name.replace("_", " ")
        if not math.isfinite(value):
            raise error(f"{owner}: {name} is {value}.", "Enter a finite number.")
        if (low is not None and value < low) or (high is not None and value > high):
            bounds = " and ".join(
                f"{word} {bound:g}" for word, bound in (("at least", low), ("at most", high)) if bound is not None
            )
            unit = f" {item.metadata['unit']}" if item.metadata["unit"] else ""
            raise error(f"{owner}: {name} is {value:g}{unit}.", f"Set it to {bounds}{unit}.")


@dataclass(frozen=True)
class MaterialSettings:
    """One physical material.

    ``energy`` is a name of the registry in ``core.energies``.
    """

    name: str = "Material"
    youngs_modulus: float = _number(5e4, 1.0, 1e15, "Pa", "Stiffness: flesh 1e4-1e5, rubber 1e6-1e7, bone 1e9-2e10")
    poissons_ratio: float = _number(0.45, 0.0, 0.499, "", "How much it keeps its volume: 0 cork, 0.3 bone, 0.45 flesh")
    density: float = _number(1000.0, 0.1, 1e5, "kg/m³", "Mass per volume: water and flesh 1000, bone 1900")
    energy: str = _choice("stable_neo_hookean", "How stress follows stretch")

    def __post_init__(self) -> None:
        _check_ranges(self, MaterialError, f"Material “{self.name}”")


@dataclass(frozen=True)
class ResolutionSettings:
    """How the body is filled with tetrahedra.

    ``method``: ``lattice`` (body-centred cubic cells around the surface: seconds, any mesh) or ``robust`` (fTetWild:
    follows the surface, minutes, any mesh).
    """

    method: str = _choice("lattice", "Draft lattice, or robust surface-following tetrahedra")
    cells_across: int = _number(20, 2, 400, "", "Cells along the longest side of the body")

    METHODS = ("lattice", "robust")

    def __post_init__(self) -> None:
        _check_ranges(self, SettingsError, "Resolution")
        if self.method not in self.METHODS:
            raise SettingsError(
                f"Resolution: unknown method “{self.method}”.", f"Choose one of {', '.join(self.METHODS)}."
            )


@dataclass(frozen=True)
class SolverSettings:
    """How time is stepped.

    ``solver`` is a name of the registry in ``core.solvers``; ``gravity`` is an acceleration in m/s².
    """

    solver: str = _choice("mixed_fem", "Method that computes a step")
    max_iterations: int = _number(20, 1, 1000, "", "Iterations a step at most")
    tolerance: float = _number(
        1e-5, 0.0, 1.0, "", "Stop a step when no vertex moves more than this part of the body's size"
    )
    substeps: int = _number(1, 1, 1000, "", "Time steps a frame")
    quadratic_finish: bool = _choice(True, "Mixed FEM: finish by Newton once stretches and positions agree")
    damping_factor: float = _number(1.0, 0.25, 10.0, "", "Beta of the linearly implicit solver: larger is calmer")
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)

    def __post_init__(self) -> None:
        _check_ranges(self, SettingsError, "Solver")
        if len(self.gravity) != 3 or not all(math.isfinite(g) for g in self.gravity):
            raise SettingsError(f"Solver: gravity is {self.gravity}.", "Give three finite numbers in m/s².")
