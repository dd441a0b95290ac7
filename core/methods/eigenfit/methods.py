"""Registry of methods that match the vibrations of a body to those of a finer one. User interfaces offer all listed
methods, and the tests run them.
"""

from __future__ import annotations

from typing import ClassVar, Protocol

import numpy as np

from ...foundation.errors import SettingsError
from ...foundation.schema.settings import SolverSettings
from ...mechanics.forces.step_potential import Load
from ..subspaces.space import Space
from .current_modes import CurrentModes
from .fitted_materials import FittedMaterials, OneStiffness
from .matching import Matching, Pairs, Spectra
from .vibrations import Springs


class MatchMethod(Protocol):
    """Interface of a match method. ``name`` is its value in the settings; ``label`` and ``description`` are its texts
    for the user. A method with ``of_positions`` has a potential of the positions. Mixed FEM cannot use it: its negative
    curvature ends long steps too early. ``controls``: the method can scale the stiffness of single vibrations.
    ``variants``: values of its further arguments that trials compare; without trials the first is used.

    ``spectra`` and ``pairs`` describe the match. ``stiffness`` (c,) or (c,2) multiplies the stiffness, or mu and
    lambda, of each element or cubature point; None for no change.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    description: ClassVar[str]
    of_positions: ClassVar[bool]
    controls: ClassVar[bool]
    variants: ClassVar[tuple[tuple[float, ...], ...]]
    spectra: Spectra
    pairs: Pairs
    stiffness: np.ndarray | None

    def __init__(
        self, space: Space, spectra: Spectra, pairs: Pairs, springs: Springs | None = None, *variant: float
    ) -> None:
        """Match a space by its vibrations at rest; ``springs`` hold a reduced one. ``pairs`` has at least one pair."""

    def load(self, scale: np.ndarray, beta: float = 0.0, factors: np.ndarray | None = None) -> Load | None:
        """Return the load of the method in a step, or None. ``scale`` (c,) multiplies the stiffness of each element or
        cubature point. ``beta``, s, is the stiffness-proportional damping. ``factors`` (f,) multiply the stiffness of
        the slowest vibrations, if the method ``controls`` them.
        """


METHODS: dict[str, type[MatchMethod]] = {
    method.name: method for method in (Matching, FittedMaterials, OneStiffness, CurrentModes)
}


AUTOMATIC = "automatic"
MENU = {
    AUTOMATIC: (
        "Automatic",
        f"{FittedMaterials.label}, or {Matching.label} if its error in a trial simulation is much smaller",
    )
}
MENU |= {name: (method.label, method.description) for name, method in METHODS.items()}
"""Choices for the artist: labels and descriptions by name."""


def match_methods(
    solver: SolverSettings, is_controlled: bool = False, frees_pins: bool = False
) -> tuple[type[MatchMethod], ...]:
    """Return the methods to try; the first one is used if trials are not possible. SettingsError lists the known
    methods.

    The automatic choice begins with materials, which add no cost to a step and are more accurate on most bodies
    (``docs/design/eigenfit.md``). But materials cannot control vibrations. If all pins are released at some frame
    (``frees_pins``), materials that are right for the free body sag too much before the release.
    """
    name = solver.match_method
    if name == AUTOMATIC:
        return (Matching,) if is_controlled or frees_pins else (FittedMaterials, Matching)
    if name not in METHODS:
        raise SettingsError(f"Unknown match method “{name}”.", f"Choose one of {', '.join(MENU)}.")
    return (METHODS[name],)


def check_method(solver: SolverSettings, is_controlled: bool = False) -> None:
    """Raise SettingsError if the match method is unknown, or does not support the solver or controlled vibrations."""
    method = match_methods(solver, is_controlled)[0]
    if is_controlled and solver.is_matched and not method.controls:
        raise SettingsError(
            f"{method.label} cannot make single vibrations softer or stiffer.",
            f"Set Match Method to {Matching.label}, or switch Control Vibrations off.",
        )
    if method.of_positions and solver.is_matched and solver.kind.is_mixed:
        raise SettingsError(
            f"{method.label} cannot match a body that {solver.kind.label} computes: long steps would stop too early.",
            f"Set Match Method to {Matching.label}, or choose another Solver.",
        )
