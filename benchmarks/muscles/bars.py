"""Bars with fibres: shared by the cases of this folder, which has none of its own."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...core.foundation.schema.muscle_settings import MuscleSettings
from ...core.foundation.schema.settings import SolverSettings
from ...core.mechanics.fibres.fibre_potential import FibrePotential
from ...core.mechanics.fibres.registry import fibre_law
from ...core.mechanics.forces.step_potential import Load, Motion, StepPotential
from ...core.methods.model.model import Model, build_model
from ...core.methods.solvers import make_solver
from ..elements.bars import LENGTH, lattice_bar
from ..registry import Case

MODULUS, RATIO, DENSITY = 3e4, 0.45, 1e3
ENDS = 0.06
"""Share of the length at an end whose vertices are held."""
STEP = 1.0 / 24.0


def cases(data: Path | None) -> Iterator[Case]:
    """Yield nothing: this module has no case."""
    yield from ()


class LoadForm:
    """Fibres without independent stretches: the potential of the positions alone."""

    def __init__(self, fibres: FibrePotential) -> None:
        self._fibres = fibres

    def begin(self, _motion: Motion) -> StepPotential:
        """Return a potential that Mixed FEM does not recognise as fibres."""
        return _OfPositions(self._fibres)


class _OfPositions(StepPotential):
    def __init__(self, fibres: FibrePotential) -> None:
        self.value, self.gradient, self.add_stiffness = fibres.value, fibres.gradient, fibres.add_stiffness


class Bar(NamedTuple):
    """A bar 8:1 of the draft lattice with a fibre in every element. ``centres`` (e,3): centroids of the elements."""

    model: Model
    centres: np.ndarray
    along: np.ndarray

    @property
    def part(self) -> np.ndarray:
        """Position of each element along the bar, 0 to 1, (e,)."""
        return self.centres[:, 0] / LENGTH + 0.5


def bar(
    cells: int, helical: bool = False, modulus: float | np.ndarray = MODULUS, ratio: float = RATIO, free: bool = False
) -> Bar:
    """Return a bar, held at one end. ``helical``: the fibres wind around the axis by 45 degrees at the surface."""
    mesh = lattice_bar(cells, np.eye(3))
    X = mesh.rest_positions
    held = () if free else np.flatnonzero(X[:, 0] < (ENDS - 0.5) * LENGTH)
    model = build_model(mesh, modulus, ratio, DENSITY, pinned=held, smoothed=True)
    centres = model.elements.mean(X[mesh.tets].mean(axis=1))
    along = np.tile([1.0, 0.0, 0.0], (len(centres), 1))
    if helical:
        along += 2.0 * np.cross([1.0, 0.0, 0.0], centres)
        along /= np.linalg.norm(along, axis=1, keepdims=True)
    return Bar(model, centres, along)


def fibres(
    of: Bar, law: str, strength: np.ndarray | float, activation: np.ndarray | float, **settings: float
) -> FibrePotential:
    """Return the fibres of a bar, in the elements with a ``strength`` (e,), Pa. ``activation`` (e,): per element."""
    chosen = MuscleSettings(law=law, **{"strength": MODULUS, "shortening": 0.3, "passive": 1.0} | settings)
    strength = np.broadcast_to(strength, len(of.along))
    rows = np.flatnonzero(strength)
    active = np.broadcast_to(np.asarray(activation, dtype=np.float64), len(of.along))[rows]
    weights = of.model.elastic.weights[rows] * strength[rows] / MODULUS
    vectors = of.model.fibre_vectors(rows, of.along[rows])
    return FibrePotential(vectors, weights, lambda stretch: fibre_law(law).terms(stretch, active, chosen))


class Run(NamedTuple):
    """Positions (n,3) at the end, the iterations of each step, and True if all steps converged."""

    positions: np.ndarray
    iterations: list[int]
    converged: bool


def run(model: Model, solver: str, loads: Sequence[Load | None], step: float = STEP, **settings: object) -> Run:
    """Simulate one step per load, or without load for None."""
    chosen = SolverSettings(solver=solver, **{"max_iterations": 200, "gravity": (0.0, 0.0, 0.0)} | settings)
    stepper, state, counts, converged = make_solver(model, chosen), model.rest_state(), [], True
    for load in loads:
        state, report = stepper.step(state, model.mesh.rest_positions[model.pinned], step, [load] if load else [])
        counts.append(report.iterations)
        converged &= report.converged
    return Run(state.positions, counts, converged)


def twist(X: np.ndarray, x: np.ndarray) -> float:
    """Return the angle, degrees, by which points (k,3) are turned about the x axis from ``X`` to ``x``."""
    A, B = X - X.mean(axis=0), x - x.mean(axis=0)
    return math.degrees(math.atan2((A[:, 1] * B[:, 2] - A[:, 2] * B[:, 1]).sum(), (A[:, [1, 2]] * B[:, [1, 2]]).sum()))
