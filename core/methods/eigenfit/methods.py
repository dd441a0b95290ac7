"""Registry of the methods that match the vibrations of a coarse body to those of a finer one."""

from __future__ import annotations

from typing import ClassVar, Protocol

import numpy as np

from ...foundation.errors import MatchError, SettingsError
from ...foundation.schema.settings import SolverSettings
from ...mechanics.forces.step_potential import Load
from ..subspaces.space import Space
from .current_modes import CurrentModes
from .fitted_materials import FittedMaterials, OneStiffness
from .matching import Matching, Pairs, Spectra
from .vibrations import Springs


class MatchMethod(Protocol):
    """Method that matches the vibrations of a body in its space to those of a finer body.

    ``name``: value of the setting. ``label``, ``description``: texts for the user. ``of_positions``: True if the method
    adds a potential of the positions. Mixed FEM cannot use such a method, since the potential's negative curvature
    makes line searches stop too early. ``controls``: True if the method can scale the stiffness of each vibration
    separately. ``variants``: tuples of further constructor arguments. Trial simulations in a subspace compare all
    tuples. In all other cases the first tuple is used.

    ``spectra``, ``pairs``: modes of both bodies, and the matched pairs. ``stiffness``: factors per element or cubature
    point, (c,) for the whole stiffness or (c,2) for mu and lambda; None for no change.
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
        """Match the vibrations of the body in ``space`` to those of the finer body.

        ``pairs``: at least one pair of modes. A method with ``controls`` also accepts unpaired modes alone.
        ``springs``: springs that hold the body in a subspace. In the full space the model itself contains the springs,
        and this argument is ignored. ``variant``: one of the tuples in ``variants``.
        """

    def load(self, scale: np.ndarray, beta: float = 0.0, factors: np.ndarray | None = None) -> Load | None:
        """Return the load that the method adds in a step, or None.

        ``scale`` (c,): factor of the stiffness per element or cubature point. ``beta``, s: stiffness-proportional
        damping. ``factors`` (f,): factors of the stiffness of the f slowest vibrations, for a method with ``controls``.
        """


METHODS: dict[str, type[MatchMethod]] = {
    method.name: method for method in (Matching, FittedMaterials, OneStiffness, CurrentModes)
}


AUTOMATIC = "automatic"
MENU = {
    AUTOMATIC: (
        "Automatic",
        f"{FittedMaterials.label}, or {Matching.label} if they do not reduce the error in a trial simulation",
    )
}
MENU |= {name: (method.label, method.description) for name, method in METHODS.items()}
"""Label and description of each match method in the settings, by name."""


def match_methods(
    solver: SolverSettings,
    is_controlled: bool = False,
    frees_pins: bool = False,
    collides: bool = False,
    hits: bool = False,
) -> tuple[type[MatchMethod], ...]:
    """Return the match methods to try, in order, until one reduces the error of the trial simulation.

    The automatic choice begins with fitted materials. Fitted materials add no cost to a step, are more accurate on most
    bodies, and work for bodies that collide. With fitted materials, limbs fold less (``docs/design/eigenfit.md``). Two
    conditions exclude fitted materials. First, the user scales the stiffness of individual vibrations
    (``is_controlled``), which fitted materials do not support. Second, all pins are released at some frame
    (``frees_pins``): materials fitted to the free body sag too much before the release.

    The second choice is :class:`.Matching`, which adds a potential of the stretches. Matching is left out for a body
    that is plastic or solved together with others (``collides``), unless the stiffness of individual vibrations is
    scaled. A body
    without pins that collides with bodies or colliders (``hits``) is not matched to a finer mesh, since its impacts are
    not part of the trial simulation.

    Raises SettingsError if the method in the settings is unknown. Raises MatchError if the automatic choice has no
    method.
    """
    name = solver.match_method
    if name == AUTOMATIC:
        if hits and solver.match_resolution:
            raise MatchError(
                "the body has no pins and collides, and impacts are not part of the test.",
                f"To match it anyway, set Match Method to {FittedMaterials.label}.",
            )
        if is_controlled or frees_pins and not collides:
            return (Matching,)
        if frees_pins:
            raise MatchError(
                "no method suits a body that collides or is plastic, and lets go of all pins.", "Turn off the match."
            )
        return (FittedMaterials,) if collides else (FittedMaterials, Matching)
    if name not in METHODS:
        raise SettingsError(f"Unknown match method “{name}”.", f"Choose one of {', '.join(MENU)}.")
    return (METHODS[name],)


def check_method(solver: SolverSettings, is_controlled: bool = False, is_plastic: bool = False) -> None:
    """Check that the match method in the settings works with the chosen solver.

    ``is_controlled``: True if the user scales the stiffness of individual vibrations. ``is_plastic``: True if a
    material is plastic, so that the rest shape changes. Raises SettingsError if the match method is unknown, or does
    not work with the solver, this scaling or plastic materials.
    """
    method = match_methods(solver, is_controlled, collides=is_plastic)[0]
    if is_plastic and (is_controlled or solver.is_matched and (method.controls or method.of_positions)):
        raise SettingsError(
            "A potential that matches or controls vibrations would pull a plastic body back to its first rest shape.",
            f"Set Match Method to {FittedMaterials.label} and turn Control Vibrations off, or set Yield Strain to 0.",
        )
    if is_controlled and solver.is_matched and not method.controls:
        raise SettingsError(
            f"{method.label} cannot make single vibrations softer or stiffer.",
            f"Set Match Method to {Matching.label}, or switch Control Vibrations off.",
        )
    if method.of_positions and solver.is_matched and solver.kind.is_mixed:
        raise SettingsError(
            f"{method.label} does not work with {solver.kind.label}: long steps would end before they converge.",
            f"Set Match Method to {Matching.label}, or choose another Solver.",
        )
