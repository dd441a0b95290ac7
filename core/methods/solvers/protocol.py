"""Interface of solvers: made for a model and settings, a solver advances states by time steps."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ...foundation.errors import DivergenceError
from ...foundation.schema.settings import SolverSettings
from ...mechanics.forces.step_potential import LoadsOrFactory
from ...numerics.linear_solvers.registry import Choice
from ...numerics.optimization.step_report import StepReport
from ..model.state import State
from ..subspaces.space import Space


class Solver(Protocol):
    """Method that advances a state by one time step."""

    def __init__(self, model: Space, settings: SolverSettings, linear_solver: Choice | None = None) -> None:
        """Analyse the model once; ``linear_solver`` is a choice already made, or None to choose by the settings."""

    def follow(self, model: Space, pinned: bool, stiffness: bool) -> None:
        """Continue with the same body after a change of its pinned unknowns (``pinned``) or its ``stiffness``."""

    def step(
        self, state: State, pin_targets: np.ndarray, time_step: float, loads: LoadsOrFactory = ()
    ) -> tuple[State, StepReport]:
        """Return the state after ``time_step`` s, with pinned vertices at ``pin_targets`` (p,3) m and the step's
        ``loads``, and the report.
        """


def check_finite(values: np.ndarray, quantity: str) -> None:
    """Raise DivergenceError with the first vertex whose value is not finite."""
    finite = np.isfinite(values)
    if not finite.all():
        raise DivergenceError(
            f"The {quantity} of vertex {{vertex}} is not a number.",
            "Use more substeps, a lower ratio of stiffnesses, or Mixed FEM.",
            int(np.argmin(finite.all(axis=1))),
            len(values),
        )


def check_direction(direction: np.ndarray, decrement: float) -> None:
    """Raise DivergenceError if a search direction or the decrease that it predicts is not finite."""
    check_finite(direction, "search direction")
    if not np.isfinite(decrement):
        raise DivergenceError(
            "The energy that a step is predicted to lower is not a number.",
            "Check gravity, speeds and stiffness for extreme values.",
        )
