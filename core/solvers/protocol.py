"""What a solver is: it is made for a model and settings, and makes steps."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ..errors import DivergenceError
from ..forces.step_potential import LoadsOrFactory
from ..linear_solvers.registry import Choice
from ..model.state import State
from ..optimization.report import StepReport
from ..settings import SolverSettings
from ..subspaces.space import Space


class Solver(Protocol):
    """A method that advances a state by one time step."""

    def __init__(self, model: Space, settings: SolverSettings, linear_solver: Choice | None = None) -> None:
        """Analyse the model once; ``linear_solver`` is a choice that was made already."""

    def follow(self, model: Space, pinned: bool, stiffness: bool) -> None:
        """Go on with the same body when other unknowns are given, or its stiffness is another."""

    def step(
        self, state: State, pin_targets: np.ndarray, time_step: float, loads: LoadsOrFactory = ()
    ) -> tuple[State, StepReport]:
        """The state ``time_step`` seconds later, with pinned vertices at ``pin_targets`` (p,3), and with what acts in
        that step.
        """


def check_finite(values: np.ndarray, what: str) -> None:
    """DivergenceError with the first vertex whose value is not a number."""
    finite = np.isfinite(values)
    if not finite.all():
        raise DivergenceError(
            f"The {what} of vertex {{vertex}} is not a number.",
            "Use more substeps, a lower ratio of stiffnesses, or Mixed FEM.",
            int(np.argmin(finite.all(axis=1))),
            len(values),
        )


def check_direction(direction: np.ndarray, decrement: float) -> None:
    """DivergenceError when a search direction or the decrease that it predicts is not a number."""
    check_finite(direction, "search direction")
    if not np.isfinite(decrement):
        raise DivergenceError(
            "The energy that a step is predicted to lower is not a number.",
            "Look for extreme gravity, speeds or stiffness.",
        )
