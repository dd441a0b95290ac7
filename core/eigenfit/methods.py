"""The registry of methods by which a body swings as a finer one: one line a class. What stands here is offered in
interfaces and swept by the tests.
"""

from __future__ import annotations

from typing import ClassVar, Protocol

import numpy as np

from ..errors import SettingsError
from ..forces.step_potential import Load
from ..settings import SolverSettings
from ..subspaces.space import Space
from .current_modes import CurrentModes
from .matching import Matching, Pairs, Spectra
from .scaled_stiffness import FittedMaterials, OneStiffness
from .vibrations import Springs


class MatchMethod(Protocol):
    """``name`` is the setting's word, ``label`` and ``description`` what an artist reads. One ``of_positions`` has a
    potential of the positions, which Mixed FEM cannot bear: of negative curvature, it stops long steps too early.
    ``controls``: whether single vibrations can be made softer and stiffer. ``ways``: further numbers
    that it can be made by, the first for bodies that cannot be tried.

    ``spectra`` and ``pairs``: what is matched. ``stiffness`` (c,) or (c,2): what multiplies that of each place where
    the space feels its elasticity, or mu and lambda there; None for nothing.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    description: ClassVar[str]
    of_positions: ClassVar[bool]
    controls: ClassVar[bool]
    ways: ClassVar[tuple[tuple[float, ...], ...]]
    spectra: Spectra
    pairs: Pairs
    stiffness: np.ndarray | None

    def __init__(
        self, space: Space, spectra: Spectra, pairs: Pairs, springs: Springs | None = None, *way: float
    ) -> None:
        """Of a space at its stiffness at rest, which ``springs`` hold where it is reduced; one pair at least."""

    def load(self, scale: np.ndarray, beta: float = 0.0, factors: np.ndarray | None = None) -> Load | None:
        """What acts while the stiffness of each felt place is scaled by (c,), if anything does; ``beta``, s: the
        damping by the stiffness; ``factors`` (f,) of the slowest vibrations' stiffness, where it ``controls``.
        """


METHODS: dict[str, type[MatchMethod]] = {
    method.name: method for method in (Matching, FittedMaterials, OneStiffness, CurrentModes)
}


AUTOMATIC = "automatic"
MENU = {
    AUTOMATIC: (
        "Automatic",
        f"{FittedMaterials.label}, or {Matching.label} where a swing that is tried is much nearer by it",
    )
}
MENU |= {name: (method.label, method.description) for name, method in METHODS.items()}
"""What an artist chooses from: labels and descriptions."""


def match_methods(
    solver: SolverSettings, is_controlled: bool = False, lets_go: bool = False
) -> tuple[type[MatchMethod], ...]:
    """Return the methods to be tried; the first is used where a trial is not possible. SettingsError lists the known
    ones.

    The automatic choice begins with materials, which cost a step nothing and are nearer on most bodies
    (``docs/design/eigenfit.md``). But materials control nothing, and a body that ``lets_go`` of all its pins
    hangs too low until then by materials that are right once it flies.
    """
    name = solver.match_method
    if name == AUTOMATIC:
        return (Matching,) if is_controlled or lets_go else (FittedMaterials, Matching)
    if name not in METHODS:
        raise SettingsError(f"Unknown match method “{name}”.", f"Choose one of {', '.join(MENU)}.")
    return (METHODS[name],)


def check_method(solver: SolverSettings, is_controlled: bool = False) -> None:
    """SettingsError where the method that is chosen is unknown, or cannot serve the solver, or control vibrations."""
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
