"""From the settings to what steps: the space of a solver, and the solver made for it."""

from __future__ import annotations

from importlib import import_module

from ..linear_solvers.registry import Choice
from ..model.model import Model
from ..settings import SolverSettings
from ..subspaces.reduced_model import skinning_subspace
from ..subspaces.space import Space
from .protocol import Solver


def space_of(model: Model, settings: SolverSettings) -> Space:
    """What the solver that the settings name steps: the model itself, or its subspace, which takes a while to make."""
    if not settings.kind.takes_modes:
        return model
    return skinning_subspace(model, settings.modes, settings.cubature_points).model


def make_solver(space: Space, settings: SolverSettings, linear_solver: Choice | None = None) -> Solver:
    """The solver that the settings name, made for the space that it steps.

    ``linear_solver``: a choice that was made already, in place of the settings' own.
    """
    module, _, method = settings.kind.method.rpartition(".")
    return getattr(import_module(f".{module}", __package__), method)(space, settings, linear_solver)
