"""Factories of the solver that the settings name, and of the space in which the solver works."""

from __future__ import annotations

from importlib import import_module

from ...foundation.schema.settings import SolverSettings
from ...numerics.linear_solvers.registry import Choice
from ..model.model import Model
from ..subspaces.reduced_model import skinning_subspace
from ..subspaces.space import Space
from .protocol import Solver


def space_of(model: Model, settings: SolverSettings) -> Space:
    """Return the space in which the solver of the settings works: the model itself, or its subspace.

    A subspace is slow to compute.
    """
    if not settings.kind.takes_modes:
        return model
    return skinning_subspace(model, settings.modes, settings.cubature_points, settings.subspace_basis).model


def make_solver(space: Space, settings: SolverSettings, linear_solver: Choice | None = None) -> Solver:
    """Return the solver that the settings name.

    ``space``: full space or subspace, as the solver requires. ``linear_solver``: an already chosen linear solver; None:
    choose one by the settings.
    """
    module, _, method = settings.kind.method.rpartition(".")
    return getattr(import_module(f".{module}", __package__), method)(space, settings, linear_solver)
