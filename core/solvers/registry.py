"""The registry of solvers: one line a file. What stands here is offered in interfaces and swept by the tests."""

from __future__ import annotations

from ..errors import SettingsError
from ..linear_solvers.registry import Choice
from ..model.model import Model
from ..model.settings import SolverSettings
from ..subspaces.reduced_model import skinning_subspace
from ..subspaces.space import Space
from .linearly_implicit import LinearlyImplicitSolver
from .mixed_fem import MixedFEMSolver
from .newton import NewtonSolver
from .protocol import Solver
from .subspace import SubspaceFEMSolver, SubspaceMixedFEMSolver

SOLVERS: dict[str, type[Solver]] = {
    cls.name: cls
    for cls in (
        MixedFEMSolver,
        NewtonSolver,
        LinearlyImplicitSolver,
        SubspaceMixedFEMSolver,
        SubspaceFEMSolver,
    )
}


def solver_class(name: str) -> type[Solver]:
    """The solver of that name; SettingsError names the known ones."""
    if name not in SOLVERS:
        raise SettingsError(f"Unknown solver “{name}”.", f"Choose one of {', '.join(SOLVERS)}.")
    return SOLVERS[name]


def in_subspace(settings: SolverSettings) -> bool:
    """Whether the solver that the settings name steps a reduced model."""
    return solver_class(settings.solver).space == "subspace"


def space_of(model: Model, settings: SolverSettings) -> Space:
    """What the solver that the settings name steps: the model itself, or its subspace, which takes a while to make."""
    if not in_subspace(settings):
        return model
    return skinning_subspace(model, settings.modes, settings.cubature_points).model


def make_solver(space: Space, settings: SolverSettings, linear_solver: Choice | None = None) -> Solver:
    """The solver that the settings name, made for the space that it steps.

    ``linear_solver``: a choice that was made already, in place of the settings' own.
    """
    return solver_class(settings.solver)(space, settings, linear_solver)
