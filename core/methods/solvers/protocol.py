"""Interface of the solvers, which are constructed for a model and settings."""

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
    """Solver that advances the state of a body by time steps."""

    def __init__(self, model: Space, settings: SolverSettings, linear_solver: Choice | None = None) -> None:
        """Prepare to solve for a model.

        ``linear_solver``: an already chosen linear solver; None: choose one by the settings.
        """

    def follow(self, model: Space, pinned: bool, stiffness: bool) -> None:
        """Replace the model by another one of the same body.

        ``pinned``: True if the set of prescribed unknowns changed. ``stiffness``: True if the elastic stiffness
        changed.
        """

    def step(
        self, state: State, pin_targets: np.ndarray, time_step: float, loads: LoadsOrFactory = ()
    ) -> tuple[State, StepReport]:
        """Return the state after a step, and the step's report.

        ``time_step``, s: length of the step. ``pin_targets`` (p,3), m: positions of the pinned vertices at the end of
        the step.
        """


def check_finite(values: np.ndarray, quantity: str) -> None:
    """Check that all ``values`` (n,3) are finite.

    Raises DivergenceError with the first vertex that has a value that is not finite, and with the ``quantity``.
    """
    finite = np.isfinite(values)
    if not finite.all():
        raise DivergenceError(
            f"The {quantity} of vertex {{vertex}} is not a number.",
            "Use more substeps, materials of more similar stiffness, or the solver Mixed FEM.",
            int(np.argmin(finite.all(axis=1))),
            len(values),
        )


def check_direction(direction: np.ndarray, decrement: float) -> None:
    """Check that a search direction (n,3) and its Newton decrement are finite. Raises DivergenceError if not."""
    check_finite(direction, "search direction")
    if not np.isfinite(decrement):
        raise DivergenceError(
            "The predicted decrease of the energy in a step is not a number.",
            "Check gravity, speeds and stiffness for extreme values.",
        )
