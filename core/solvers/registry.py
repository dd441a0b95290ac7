"""The registry of solvers: one line a file. What stands here is offered in interfaces and swept by the tests."""

from __future__ import annotations

from ..errors import SettingsError
from ..linear_solvers.registry import Choice
from ..model.model import Model
from ..model.settings import SolverSettings
from .linearly_implicit import LinearlyImplicitSolver
from .mixed_fem import MixedFEMSolver
from .newton import NewtonSolver
from .protocol import Solver

SOLVERS: dict[str, type[Solver]] = {cls.name: cls for cls in (MixedFEMSolver, NewtonSolver, LinearlyImplicitSolver)}


def make_solver(model: Model, settings: SolverSettings, linear_solver: Choice | None = None) -> Solver:
    """The solver that the settings name, made for the model; SettingsError names the known ones.

    ``linear_solver``: a choice that was made already, in place of the settings' own.
    """
    if settings.solver not in SOLVERS:
        raise SettingsError(f"Unknown solver “{settings.solver}”.", f"Choose one of {', '.join(SOLVERS)}.")
    return SOLVERS[settings.solver](model, settings, linear_solver)
