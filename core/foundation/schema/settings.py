"""Settings of a simulation: frozen dataclasses in SI units, validated on construction.

User interfaces mirror these fields one to one (``blender_addon/properties/properties.py``; a test compares names,
ranges and defaults).
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
"""Gravitational acceleration of the Earth, m/s²: the default."""


def _acceleration(value: Any) -> tuple[float, float, float]:
    """Return the value of the setting ``gravity`` as three finite numbers."""
    wrong = SettingsError(f"Solver: gravity is {shown(value)}.", "Give three finite numbers in m/s².")
    if isinstance(value, str):
        raise wrong
    try:
        parts = tuple(value)
    except TypeError as error:
        raise wrong from error
    parts = tuple(typed(part, "float", SettingsError, "Solver: a component of gravity") for part in parts)
    if len(parts) != 3 or not all(math.isfinite(part) for part in parts):
        raise wrong
    return parts


@dataclass(frozen=True)
class MaterialSettings:
    """One material, elastic or plastic.

    ``energy`` names an energy density registered in ``core.mechanics.energies``; only some energies use ``stiffening``.
    If ``painted_modulus`` is set, the material's stiffness map interpolates Young's modulus geometrically, from
    ``youngs_modulus`` where the map is 0 to ``painted_modulus`` where it is 1. The material is plastic if
    ``yield_strain`` is not 0 (``core/mechanics/materials/plastic_flow.py``).
    """

    name: str = "Material"
    youngs_modulus: float = number(
        5e4, 1.0, 1e15, "Pa", "Stiffness, Pa: flesh 1e4-1e5, rubber 1e6-1e7, bone 1e9-2e10", "stiffness"
    )
    poissons_ratio: float = number(
        0.45, 0.0, 0.499, "", "Resistance to volume change, no unit: 0 cork, 0.3 bone, 0.45 flesh", "Poisson's ratio"
    )
    density: float = number(1000.0, 0.1, 1e5, "kg/m³", "Mass per volume, kg/m³: water and flesh 1000, bone 1900")
    energy: str = choice("stable_neo_hookean", "Elastic energy, which relates stress to stretch", label="", menu=True)
    stiffening: float = number(
        0.5, 0.05, 20.0, "", "How much the material stiffens as it stretches, Fung's b, no unit: 0.5 gently, 2 strongly"
    )
    painted_modulus: float | None = number(
        None, 1.0, 1e15, "Pa", "Stiffness where the stiffness map is painted to 1, Pa", "painted stiffness"
    )
    yield_strain: float = number(
        0.0,
        0.0,
        10.0,
        "",
        "Strain beyond which the material keeps a new shape, no unit: lead 0.002, clay 0.01, dough 0.05, wax 0.1; 0 is "
        "elastic",
    )
    creep: float = number(
        0.0,
        0.0,
        1e6,
        "1/s",
        "Rate at which strain beyond the yield strain becomes permanent, 1/s: dough 1 to 5, pitch 0.01; 0 is at once",
    )
    hardening: float = number(
        0.0,
        0.0,
        100.0,
        "",
        "Growth of the yield strain per permanent strain, no unit: 0 clay, 0.01 to 0.1 bent metal, 1 and more stops "
        "the flow soon",
    )

    def __post_init__(self) -> None:
        check_ranges(self, MaterialError, f"Material “{words_of(self.name)}”")


def moduli(materials: Sequence[MaterialSettings]) -> list[float]:
    """Return all Young's moduli of the materials, Pa.

    ``youngs_modulus`` of each material comes first. The ``painted_modulus`` of each material with one follows.
    """
    painted = [material.painted_modulus for material in materials]
    return [m.youngs_modulus for m in materials] + [modulus for modulus in painted if modulus is not None]


@dataclass(frozen=True)
class DepthSettings:
    """Layer of a body that a material fills.

    The ``kind`` "shell" is the layer from the surface down to ``depth``, m. The kind "core" is everything deeper. Below
    ``depth``, the shell blends into the core over the distance ``fade``, m.
    """

    kind: str = choice("shell", "The skin of the body down to the depth, or its core below", names=("shell", "core"))
    depth: float = number(
        0.02, 0.0, 1e6, "m", "Distance below the surface down to which the skin reaches; 0.001 to 0.1 m"
    )
    fade: float = number(
        0.0, 0.0, 1e6, "m", "Width of the transition from skin to core, below the skin; 0 m makes a sharp boundary"
    )

    def __post_init__(self) -> None:
        check_ranges(self, MaterialError, "Depth")


@dataclass(frozen=True)
class ResolutionSettings:
    """Settings of the tetrahedral mesh.

    ``method``: ``lattice`` (body-centred cubic cells around the surface: seconds, any mesh), ``robust`` (fTetWild:
    follows the surface, minutes, any mesh), ``clean`` (TetGen: keeps every vertex of a closed surface without
    self-intersections, seconds) or ``rigid`` (one tetrahedron with the closed surface's mass and moments of inertia and
    a fixed, high stiffness, for bones). ``elements``: ``smoothed`` (the tetrahedra around common edges share their mean
    strain) or ``plain`` (each has its own strain, which is too stiff in bending, torsion and volume).
    """

    method: str = choice(
        "lattice", "How the body is filled with tetrahedra", names=("lattice", "robust", "clean", "rigid")
    )
    cells_across: int = number(
        20, 2, 400, "", "Cells along the body's longest side. Start at 12; a warning appears if thin parts need more"
    )

    refine_factor: float = number(
        2.0,
        1.0,
        8.0,
        "",
        "Factor by which cells are smaller where the surface is painted finer, no unit: 2 to 4",
        "refine factor",
    )

    elements: str = choice(
        "smoothed",
        "Which tetrahedra share one strain",
        is_advanced=True,
        names=("smoothed", "plain"),
    )

    def __post_init__(self) -> None:
        check_ranges(self, SettingsError, "Resolution")


@dataclass(frozen=True, kw_only=True)
class ColliderSettings:
    """Contact of a body with a collider.

    ``friction``: Coulomb's friction coefficient.
    ``thickness``: distance that the body keeps from the collider, m. Penalty springs begin to push at that distance.
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

    Two bodies collide if ``bodies`` is True for both. The friction coefficient of the pair is the geometric mean of
    both ``friction`` coefficients, and its contact distance is the sum of both ``thickness`` values.
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
        "If the body overlaps another one at the first frame, start shrunk, down to a fifth of its size, and grow over "
        "the Pre-Roll while contact pushes the bodies apart",
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
    """Settings of the solver and of time integration. Each solver ignores the settings that only other solvers read.

    ``solver`` is a name in ``core.foundation.schema.solver_kinds``; ``integrator`` and ``linear_solver`` are names in
    the registries of ``core.numerics.integrators`` and ``core.numerics.linear_solvers``. ``gravity`` is an acceleration
    in m/s², by default that of the Earth along -z. ``stop_rule`` selects which of the three tolerances applies.
    """

    solver: str = choice(MIXED_FEM.name, "Method that computes a step", label="", menu=True)
    integrator: str = choice("backward_euler", "Rule of time integration", label="", menu=True)
    theta: float = number(
        0.526,
        0.5,
        1.0,
        "",
        "Fraction of a step at which Theta Midpoint evaluates forces, no unit: 0.5 loses no energy and rings, 0.526 "
        "damps ringing by a tenth per step, 1 is implicit Euler",
    )
    substeps: int = number(1, 1, 1000, "", "Time steps per frame: 1 for calm scenes, 2 to 8 for violent ones")
    max_iterations: int = number(
        50,
        1,
        1000,
        "",
        "Maximum number of Newton iterations per step; 50 suffices nearly always, and 2 to 5 is quick but makes bodies "
        "stiffer. While colliders or pins press into the body, up to 60 more are permitted",
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
        "Stop a step when an iteration moves no vertex by more than this fraction of the body's size. In contact, 1e-5 "
        "leaves an error of at most 0.04 % of the size in a step; 1e-4 takes 2 to 24 % fewer iterations and leaves 1 %",
    )
    decrement_tolerance: float = number(
        1e-6,
        0.0,
        None,
        "J",
        "Stop a step when an iteration can lower the energy by less than this (the Newton decrement), J; "
        "1e-6 suits 1 kg",
    )
    acceleration_tolerance: float = number(
        0.01,
        0.0,
        None,
        "m/s²",
        "Stop a step when an iteration changes no vertex's acceleration by more than this, m/s²; 0.01 is a thousandth "
        "of gravity",
    )
    mass_damping: float = number(
        0.0,
        0.0,
        1e3,
        "1/s",
        "Damping of every movement, as in water, 1/s; 0 damps nothing, and 0.5 to 2 calms a body. At 2 the speed falls "
        "to a third in 1/2 s",
        "mass damping",
    )
    stiffness_damping: float = number(
        0.0,
        0.0,
        10.0,
        "s",
        "Damping of deformation, not of rigid motion, s; usually 0.001 to 0.01, where 0.01 is strong",
        "stiffness damping",
    )
    linear_solver: str = choice("automatic", "Solver of the linear systems")
    subspace_basis: str = choice("modes", "Functions that span a subspace", names=("modes", "handles"))
    modes: int = number(
        16,
        1,
        64,
        "",
        "Modes or handles of a subspace: 8 for simple bending, 16 for a creature, 32 and more for fine detail",
    )
    cubature_points: int = number(
        0,
        0,
        100_000,
        "",
        "Tetrahedra at which a subspace evaluates elasticity; 0 chooses their number: 20 per mode, or up to 80 per "
        "mode if parts are thin",
    )
    match_full_space: bool = choice(
        True,
        "Subspaces: vibrate at the frequencies of the full model; computed once",
    )
    match_resolution: bool = choice(
        False,
        "Vibrate at the frequencies of a finer lattice of the same body; computed once",
    )
    match_cells: int = number(
        48, 2, 400, "", "Cells along the longest side of the finer lattice: 2 to 4 times those of the body"
    )
    match_modes: int = number(
        0, 0, 40, "", "Number of vibrations to match, lowest first; 0 for an automatic number of up to 20"
    )
    match_method: str = choice(
        "automatic", "Method that makes the vibrations match", is_advanced=True, label="match method", menu=True
    )
    gravity: tuple[float, float, float] = (0.0, 0.0, -EARTH)

    def __post_init__(self) -> None:
        check_ranges(self, SettingsError, "Solver")
        object.__setattr__(self, "gravity", _acceleration(self.gravity))

    @property
    def kind(self) -> SolverKind:
        """Kind of the selected solver. Raises SettingsError if its name is unknown."""
        return solver_kind(self.solver)

    @property
    def is_matched(self) -> bool:
        """True if the settings request a match of vibrations, to a finer body or of a subspace to the full mesh."""
        return self.match_resolution or self.match_full_space and self.kind.takes_modes
