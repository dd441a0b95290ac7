"""Settings of a simulation: frozen dataclasses, SI units, validated on construction.

Interfaces mirror these fields one to one (``blender_addon/properties/properties.py``; a test compares names, ranges and
defaults).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, make_dataclass
from typing import Any

from ..errors import MaterialError, SettingsError
from .setting_fields import check_ranges, choice, number, shown, typed, words_of
from .solver_kinds import MIXED_FEM, SolverKind, own_settings, solver_kind

EARTH = 9.81
"""Standard gravity, m/s², the default."""


def _acceleration(value: Any) -> tuple[float, float, float]:
    """Return three finite numbers; SettingsError otherwise."""
    wrong = SettingsError(f"Solver: gravity is {shown(value)}.", "Give three finite numbers in m/s².")
    if isinstance(value, str):
        raise wrong
    try:
        parts = tuple(value)
    except TypeError as error:
        raise wrong from error
    parts = tuple(typed(part, "float", SettingsError, "Solver: a part of gravity") for part in parts)
    if len(parts) != 3 or not all(math.isfinite(part) for part in parts):
        raise wrong
    return parts


@dataclass(frozen=True)
class MaterialSettings:
    """One physical material.

    ``energy`` is a name of the registry in ``core.mechanics.energies``; ``stiffening`` is used by energies that have it
    as own parameter. With a ``painted_modulus`` the stiffness is interpolated geometrically by the material's stiffness
    map, from ``youngs_modulus`` at 0 to ``painted_modulus`` at 1.
    """

    name: str = "Material"
    youngs_modulus: float = number(
        5e4, 1.0, 1e15, "Pa", "Stiffness, Pa: flesh 1e4-1e5, rubber 1e6-1e7, bone 1e9-2e10", "stiffness"
    )
    poissons_ratio: float = number(
        0.45, 0.0, 0.499, "", "How much it keeps its volume, no unit: 0 cork, 0.3 bone, 0.45 flesh", "Poisson's ratio"
    )
    density: float = number(1000.0, 0.1, 1e5, "kg/m³", "Mass per volume, kg/m³: water and flesh 1000, bone 1900")
    energy: str = choice("stable_neo_hookean", "How stress follows stretch", label="", menu=True)
    stiffening: float = number(
        0.5, 0.05, 20.0, "", "How soon stretch makes it stiffer, Fung's b, no unit: 0.5 gently, 2 strongly"
    )
    painted_modulus: float | None = number(
        None, 1.0, 1e15, "Pa", "Stiffness where the stiffness map is painted fully, Pa", "painted stiffness"
    )

    def __post_init__(self) -> None:
        check_ranges(self, MaterialError, f"Material “{words_of(self.name)}”")


def moduli(materials: Sequence[MaterialSettings]) -> list[float]:
    """Return Young's moduli of materials, Pa: of each at 0 of its stiffness map, then at 1 of each that has two."""
    painted = [material.painted_modulus for material in materials]
    return [m.youngs_modulus for m in materials] + [modulus for modulus in painted if modulus is not None]


@dataclass(frozen=True)
class DepthSettings:
    """Layer of a body by depth below its surface: ``shell`` from the surface down to ``depth``, ``core`` below it. They
    are blended over the distance ``fade`` below that depth.
    """

    kind: str = choice("shell", "The skin of the body, or what lies deeper", names=("shell", "core"))
    depth: float = number(
        0.02, 0.0, 1e6, "m", "Distance below the surface down to which the skin reaches; 0.001 to 0.1 m"
    )
    fade: float = number(0.0, 0.0, 1e6, "m", "Width of the transition from skin to core below that depth; 0 m is sharp")

    def __post_init__(self) -> None:
        check_ranges(self, MaterialError, "Depth")


@dataclass(frozen=True)
class ResolutionSettings:
    """Settings of the tetrahedral mesh.

    ``method``: ``lattice`` (body-centred cubic cells around the surface: seconds, any mesh), ``robust`` (fTetWild:
    follows the surface, minutes, any mesh) or ``clean`` (TetGen: keeps every vertex of a closed surface without
    self-intersections, seconds).
    """

    method: str = choice("lattice", "How the body is filled with tetrahedra", names=("lattice", "robust", "clean"))
    cells_across: int = number(
        20, 2, 400, "", "Cells along the longest side of the body. Start at 12; a hint appears if thin parts need more"
    )

    refine_factor: float = number(
        2.0,
        1.0,
        8.0,
        "",
        "How many times smaller cells are where they are painted finer, no unit: 2 to 4",
        "refine factor",
    )

    def __post_init__(self) -> None:
        check_ranges(self, SettingsError, "Resolution")


@dataclass(frozen=True, kw_only=True)
class ColliderSettings:
    """Contact of a body with a collider: Coulomb friction coefficient and contact distance (of penalty contact, the
    distance at which it begins).
    """

    friction: float = number(0.5, 0.0, 10.0, "", "Coulomb's coefficient, no unit: ice 0.05, wood 0.4, rubber 1")
    thickness: float = number(
        0.001, 1e-6, 10.0, "m", "Distance that the body keeps from the surface, m; 0.0005 to 0.01", "distance"
    )

    def __post_init__(self) -> None:
        check_ranges(self, SettingsError, "Collisions")


@dataclass(frozen=True, kw_only=True)
class ContactSettings:
    """Contact with other soft bodies and self-contact, without interpenetration
    (``core/contact/barrier/contact_load.py``).

    Two bodies collide if both have ``bodies``. Their friction is the geometric mean of both coefficients, their
    distance the sum of both.
    """

    bodies: bool = choice(True, "Collide with other bodies that allow it: they are baked together and never intersect")
    self_contact: bool = choice(False, "Self-contact: lips, armpits and folds touch and never intersect")
    friction: float = number(
        0.5, 0.0, 10.0, "", "Coulomb's coefficient between bodies, no unit: ice 0.05, wood 0.4, rubber 1"
    )
    thickness: float = number(
        0.0, 0.0, 10.0, "m", "Contact distance of the body, m; 0 for the smallest possible", "distance"
    )

    grow_apart: bool = choice(
        False,
        "Where it overlaps another body at the first frame, start shrunk, down to a fifth of its size, and grow over "
        "the Pre-Roll: contact pushes them apart",
    )

    def __post_init__(self) -> None:
        check_ranges(self, SettingsError, "Contact")


_OwnSettings = make_dataclass(
    "_OwnSettings",
    [(name, type(each.default).__name__, each) for name, each in own_settings().items()],
    frozen=True,
    kw_only=True,
)


@dataclass(frozen=True)
class SolverSettings(_OwnSettings):
    """Settings of the time steps; solvers add their own.

    ``solver`` is a name of ``core.foundation.schema.solver_kinds``, ``integrator`` of the registry in
    ``core.numerics.integrators``, ``linear_solver`` of that in ``core.numerics.linear_solvers``; ``gravity`` is an
    acceleration in m/s², the Earth's along -z by default. The tolerance named by ``stop_rule`` is used.
    """

    solver: str = choice(MIXED_FEM.name, "Method that computes a step", label="", menu=True)
    integrator: str = choice("backward_euler", "Rule of time integration", label="", menu=True)
    theta: float = number(
        0.526,
        0.5,
        1.0,
        "",
        "Point in a step where Theta Midpoint evaluates forces, no unit: 0.5 loses no energy and rings, 0.526 damps "
        "ringing by a tenth a step, 1 is implicit Euler",
    )
    substeps: int = number(1, 1, 1000, "", "Time steps a frame: 1 for calm scenes, 2 to 8 for violent ones")
    max_iterations: int = number(
        50,
        1,
        1000,
        "",
        "Newton iterations a step at most, and up to 60 more where colliders or pins press into the body; 50 suffices "
        "nearly always, 2 to 5 is quick and stiffer",
        "iterations",
    )
    stop_rule: str = choice(
        "movement",
        "Criterion that ends a step before the maximum of iterations",
        names=("movement", "decrement", "acceleration"),
    )
    tolerance: float = number(
        1e-5,
        0.0,
        1.0,
        "",
        "Stop a step when no vertex moves more than this part of the body's size; 1e-4 coarse, 1e-6 fine",
    )
    decrement_tolerance: float = number(
        1e-6,
        0.0,
        None,
        "J",
        "Stop a step when an iteration can lower the energy by less (the Newton decrement), J; 1e-6 suits 1 kg",
    )
    acceleration_tolerance: float = number(
        0.01,
        0.0,
        None,
        "m/s²",
        "Stop a step when no vertex's acceleration changes more than this, m/s²; 0.01 is a thousandth of gravity",
    )
    mass_damping: float = number(
        0.0,
        0.0,
        1e3,
        "1/s",
        "Damping of every movement, as in water, 1/s; the speed falls to a third in one over it. 0 none, 0.5 to 2 calm",
        "drag",
    )
    stiffness_damping: float = number(
        0.0,
        0.0,
        10.0,
        "s",
        "Damping of deformation, not of rigid motion, s; 0.001 to 0.01, which is strong",
        "stiffness damping",
    )
    linear_solver: str = choice("automatic", "Solver of the linear systems")
    inner_iterations: int = number(
        5, 1, 1000, "", "Iterations of conjugate gradients a linear system at most; 5 suffices in most steps"
    )
    modes: int = number(
        16, 1, 64, "", "Modes of a subspace: 8 for simple bending, 16 for a creature, 32 and more for fine detail"
    )
    cubature_points: int = number(
        0,
        0,
        100_000,
        "",
        "Tetrahedra at which a subspace evaluates its elasticity; 0 for 20 a mode, and up to 80 where parts are thin",
    )
    match_full_space: bool = choice(
        True,
        "Subspaces: vibrate as the full model does, at the same frequencies; prepared once",
    )
    match_resolution: bool = choice(
        False,
        "Vibrate as a finer lattice does, at the same frequencies; prepared once",
    )
    match_cells: int = number(
        48, 2, 400, "", "Cells along the longest side of that lattice: 2 to 4 times those of the body"
    )
    match_modes: int = number(
        0, 0, 40, "", "Number of lowest vibrations to match; 0 for up to 20, as many as are worth it"
    )
    match_method: str = choice(
        "automatic", "How vibrations are made to match", is_advanced=True, label="match method", menu=True
    )
    gravity: tuple[float, float, float] = (0.0, 0.0, -EARTH)

    def __post_init__(self) -> None:
        check_ranges(self, SettingsError, "Solver")
        object.__setattr__(self, "gravity", _acceleration(self.gravity))

    @property
    def kind(self) -> SolverKind:
        """Kind of the solver; SettingsError if the name is unknown."""
        return solver_kind(self.solver)

    @property
    def is_matched(self) -> bool:
        """Return True if the body's vibrations are matched to those of a finer one."""
        return self.match_resolution or self.match_full_space and self.kind.takes_modes
