"""Factories of the solver that the settings name, with plastic flow, and of the space in which the solver works."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import numpy as np

from ...foundation.schema.settings import SolverSettings
from ...mechanics.forces.step_potential import LoadsOrFactory
from ...numerics.linear_solvers.registry import Choice
from ...numerics.optimization.step_report import StepReport
from ..model.model import Model
from ..model.state import State
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
    solver = getattr(import_module(f".{module}", __package__), method)(space, settings, linear_solver)
    return solver if space.elastic.plasticity is None else PlasticFlowSolver(solver, space)


class PlasticFlowSolver:
    """Solver of a body with plastic materials.

    ``solver`` computes a step with the plastic deformation at the step's beginning. The elements then flow
    (:mod:`...mechanics.materials.plastic_flow`). Independent stretches of elements that flowed become the polar
    stretches.
    """

    def __init__(self, solver: Solver, model: Space) -> None:
        self._solver, self._model = solver, model

    def follow(self, model: Space, pinned: bool, stiffness: bool) -> None:
        """Replace the model by another one of the same body.

        ``pinned``: True if the set of prescribed unknowns changed. ``stiffness``: True if the elastic stiffness
        changed.
        """
        self._model = model
        self._solver.follow(model, pinned, stiffness)

    def step(
        self, state: State, pin_targets: np.ndarray, time_step: float, loads: LoadsOrFactory = ()
    ) -> tuple[State, StepReport]:
        """Return the state after a step of ``time_step`` s, and the step's report.

        ``pin_targets`` (p,3), m: positions of the pinned vertices at the end of the step.
        """
        elastic = self._model.elastic.flowed(state.plastic)
        self._solver.follow(replace(self._model, elastic=elastic), False, False)
        new, report = self._solver.step(state, pin_targets, time_step, loads)
        plastic, rows, deformation = elastic.flow(new.positions, state.plastic, time_step)
        stretch = new.stretch.copy()
        stretch[rows] = deformation.stretch()
        return replace(new, stretch=stretch, plastic=plastic), report
