"""Motions with one or two iterations per step, compared with the converged run: falling crab ([SubMFEM23] Fig. 2),
unwinding pendulum (Fig. 13) and swung sword (Fig. 7).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...core.foundation.events import ignore
from ...core.foundation.schema.settings import SolverSettings
from ...core.geometry.mesh.embedding import embed
from ...core.mechanics.assembly.mass import mass_matrix
from ...core.mechanics.forces.springs import Springs
from ...core.mechanics.forces.step_potential import Load
from ...core.methods.model.model import Model
from ...core.methods.model.state import State
from ...core.methods.solvers import make_solver
from ...core.methods.subspaces.reduced_model import ReducedModel, skinning_subspace
from ...core.simulation.frame_loop.compile_kernels import warm_up
from .. import creatures
from ..pictures import Curve, Plot, Snapshot, draw
from ..registry import Case, Row, row

STEP = 1 / 60
DOWN, NONE = (0.0, 0.0, -9.8), (0.0, 0.0, 0.0)
CONVERGED = {"max_iterations": 100, "tolerance": 1e-7}
VARIANTS = {
    "Mixed FEM": ("subspace_mixed_fem", {}, "C1"),
    "Mixed FEM, plain": ("subspace_mixed_fem", {"quadratic_finish": False}, "C0"),
    "FEM": ("subspace_fem", {}, "C2"),
}
CAPS = (1, 2, 4)
DASHES = {1: ":", 2: "-", 4: "--"}

Observed = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Function from positions and velocities (n,3) to an observed vector (3,)."""


def cases(data: Path | None) -> Iterator[Case]:
    """Yield one case per figure; the coarse crab jitters at one iteration, as in [SubMFEM23] Sec. 7.7."""
    yield Case("crab", lambda: _crab("crab", 0.04))
    yield Case("crab_coarse", lambda: _crab("crab_coarse", 0.05))
    yield Case("pendulum", _pendulum)
    yield Case("sword", _sword)


def whole_momentum(model: Model) -> Observed:
    """Return the angular momentum about the origin, kg m²/s."""
    return lambda x, v: np.cross(x, model.mass @ v).sum(axis=0)


def part_momentum(model: Model, part: np.ndarray) -> Observed:
    """Return the angular momentum of some tets (m,) bool about their centre of mass, kg m²/s."""
    mass = mass_matrix(model.mesh.tets[part], model.masses[part], len(model.mesh.rest_positions))
    shares = np.asarray(mass.sum(axis=1)).ravel() / mass.sum()
    return lambda x, v: np.cross(x - shares @ x, mass @ v).sum(axis=0)


class Scene(NamedTuple):
    """A body in its subspace, the initial state, number of steps, observed quantity, and gravity, m/s²."""

    model: Model
    space: ReducedModel
    start: State
    steps: int
    observed: Observed
    gravity: tuple[float, float, float] = DOWN

    def positions(self, state: State) -> np.ndarray:
        """Return vertex positions (n,3), m."""
        return self.model.mesh.rest_positions + self.space.basis @ state.positions

    def course(self, solver: str, **settings: Any) -> tuple[np.ndarray, State, float]:
        """Return the observations after every step (steps,3), the last state, and the iterations per step."""
        stepper = make_solver(self.space, SolverSettings(solver=solver, gravity=self.gravity, **settings))
        state, seen, iterations = self.start, [], 0
        for _ in range(self.steps):
            state, report = stepper.step(state, state.positions[self.space.pinned], STEP)
            iterations += report.iterations
            seen.append(self.observed(self.positions(state), self.space.basis @ state.velocities))
        return np.array(seen), state, iterations / self.steps

    def settled(self, loads: Callable[[float], tuple[Load, ...]], steps: int) -> Scene:
        """Return the scene starting at rest under loads of a time from 0 to 1: long damped steps, the last third of
        them with the loads at 1.
        """
        settings = {"solver": "subspace_mixed_fem", "max_iterations": 60, "tolerance": 1e-6, "mass_damping": 10.0}
        stepper, state = make_solver(self.space, SolverSettings(gravity=self.gravity, **settings)), self.start
        for k in range(steps):
            load = loads(min(1.5 * (k + 1) / steps, 1.0))
            state, _report = stepper.step(state, state.positions[self.space.pinned], 1 / 10, load)
        return self._replace(start=self.space.state_at(state.positions))


def _crab(case: str, cell: float) -> Iterable[Row]:
    warm_up(ignore)
    model = creatures.crab(cell)
    space = skinning_subspace(model, 16, 342).model
    yield from _compared(case, Scene(model, space, space.rest_state(), 60, whole_momentum(model)))


def _pendulum() -> Iterable[Row]:
    """Wind up by the lowest block, three revolutions, then release."""
    warm_up(ignore)
    model = creatures.pendulum()
    space = skinning_subspace(model, 16, 400).model
    X = model.mesh.rest_positions
    held = np.flatnonzero(X[:, 2] < -1.68)
    points, stiffness = space.points(embed(X[held], model.mesh)), np.full(len(held), 1e6 / len(held))

    def wound(time: float) -> tuple[Load, ...]:
        c, s = np.cos(6.0 * np.pi * time), np.sin(6.0 * np.pi * time)
        return (Springs(points, stiffness, X[held] @ np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])),)

    scene = Scene(model, space, space.rest_state(), 90, whole_momentum(model))
    yield from _compared("pendulum", scene.settled(wound, 90))


def _sword() -> Iterable[Row]:
    """Pull back by the tail, then release: 25 steps."""
    warm_up(ignore)
    model, sword, tail = creatures.swordsman()
    space = skinning_subspace(model, 10, 192).model
    X = model.mesh.rest_positions
    points, stiffness = space.points(embed(X[tail], model.mesh)), np.full(len(tail), 1e5 / len(tail))

    def pulled(time: float) -> tuple[Load, ...]:
        return (Springs(points, stiffness, X[tail] + time * np.array([-0.8, 0.3, 0.2])),)

    scene = Scene(model, space, space.rest_state(), 25, part_momentum(model, sword), NONE)
    yield from _compared("sword", scene.settled(pulled, 30))


def _compared(case: str, scene: Scene) -> Iterable[Row]:
    """Compare every solver at every cap with the converged run: mean square error over time, and overshoot."""
    model, start = scene.model, scene.start
    exact, end, iterations = scene.course("subspace_mixed_fem", **CONVERGED)
    size, times = np.linalg.norm(exact), STEP * np.arange(1, scene.steps + 1)
    yield row(case, "tets", len(model.mesh.tets))
    yield row(case, "iterations a step, converged", iterations)
    ends, errors, curves = {"start": start, "converged": end}, {}, []
    for name, (solver, settings, colour) in VARIANTS.items():
        for cap in CAPS:
            label = f"{name}, {cap}"
            L, ends[label], _ = scene.course(solver, max_iterations=cap, tolerance=0.0, **settings)
            errors[label] = float(np.linalg.norm(L - exact) / size)
            bar = 0.1 if name == "Mixed FEM" and cap == 2 else None
            yield row(case, f"error of angular momentum, {label}", errors[label], "", at_most=bar)
            most = np.linalg.norm(L, axis=1).max() / np.linalg.norm(exact, axis=1).max()
            yield row(case, f"largest / converged largest, {label}", most)
            curves.append(Curve(label, times, np.linalg.norm(L, axis=1), colour + DASHES[cap]))
    ratio = errors["Mixed FEM, 1"] / errors["FEM, 1"]
    yield row(case, "Mixed FEM's error / FEM's at one iteration", ratio, "", at_most=0.5)
    curves.append(Curve("converged", times, np.linalg.norm(exact, axis=1), "k-."))
    E = model.elastic.parameters[:, 0]
    shown = ("start", "converged", "Mixed FEM, 1", "Mixed FEM, 2", "FEM, 4")
    shots = [Snapshot(name, scene.positions(ends[name]), model.mesh.tets, E) for name in shown]
    draw("subspace", case, [Plot("angular momentum", "s", "kg m²/s", curves), *shots])
