"""What a solver is: it is made for a model and settings, and makes steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from ..errors import DivergenceError
from ..forces.step_potential import Load
from ..linear_solvers.registry import Choice
from ..model.settings import SolverSettings
from ..model.state import State
from ..optimization.report import StepReport
from ..subspaces.space import Space


class Solver(Protocol):
    """A method that advances a state by one time step."""

    name: str
    label: str
    description: str
    space: str
    """``full``: it moves every vertex; ``subspace``: a reduced model."""

    def __init__(self, model: Space, settings: SolverSettings, linear_solver: Choice | None = None) -> None:
        """Analyse the model once; ``linear_solver`` is a choice that was made already."""

    def follow_stiffness(self, model: Space) -> None:
        """Go on with the same body when its stiffness has changed."""

    def step(
        self, state: State, pin_targets: np.ndarray, time_step: float, loads: Sequence[Load] = ()
    ) -> tuple[State, StepReport]:
        """The state ``time_step`` seconds later, with pinned vertices at ``pin_targets`` (p,3), and with the loads of
        that step.
        """


def check_finite(values: np.ndarray, what: str) -> None:
    """DivergenceError with the first vertex whose value is not a number."""
    finite = np.isfinite(values)
    if not finite.all():
        raise DivergenceError(
            f"The {what} of vertex {int(np.argmin(finite.all(axis=1)))} is not a number.",
            "Use more substeps, a lower ratio of stiffnesses, or Mixed FEM.",
        )


def check_direction(direction: np.ndarray, decrement: float) -> None:
    """DivergenceError when a search direction or what it promises is not a number."""
    check_finite(direction, "search direction")
    if not np.isfinite(decrement):
        raise DivergenceError(
            "A step promises an energy that is not a number.", "Look for extreme gravity, speeds or stiffness."
        )
