"""Number of modes and points ([SubMFEM23] Figs. 11, 6, 16): error and distribution of points."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from ...core.foundation.events import ignore
from ...core.foundation.schema.settings import SolverSettings
from ...core.methods.model.model import Model, build_model
from ...core.methods.solvers import make_solver
from ...core.methods.subspaces.reduced_model import ReducedModel, skinning_subspace
from ...core.simulation.frame_loop.compile_kernels import warm_up
from .. import creatures
from ..bodies import block, held_end
from ..measures import EARTH, StepProblem
from ..pictures import Grid, Snapshot, draw
from ..registry import Case, Row, row

MODES = (2, 4, 8, 16, 32)
POINTS = (20, 40, 80, 160, 320, 640)
STEP, STEPS = 1 / 60, 30
SETTINGS = {"max_iterations": 60, "tolerance": 1e-6, "gravity": EARTH}


def cases(data: Path | None) -> Iterator[Case]:
    """Yield the grid, and the density of points."""
    yield Case("pareto", _pareto)
    yield Case("density", _density)


def _falling(model: Model, space: ReducedModel) -> tuple[np.ndarray, float, float]:
    """Simulate a beam that falls under its weight from rest in a subspace: return positions of every step (STEPS,n,3),
    the full-space gradient at the last step over that of the body's weight, and seconds per iteration.
    """
    stepper, state = make_solver(space, SolverSettings(solver="subspace_mixed_fem", **SETTINGS)), space.rest_state()
    course, iterations, X = [], 0, model.mesh.rest_positions
    start = time.perf_counter()
    for _ in range(STEPS):
        before = state
        state, report = stepper.step(state, state.positions[space.pinned], STEP)
        iterations += report.iterations
        course.append(X + space.basis @ state.positions)
    seconds = (time.perf_counter() - start) / iterations
    full = model.state_at(X + space.basis @ before.positions, space.basis @ before.velocities)
    problem = StepProblem(model, full, STEP, EARTH)
    left = np.linalg.norm(problem.gradient(course[-1])) / np.linalg.norm(STEP**2 * problem.weight)
    return np.array(course), float(left), seconds


def _full(model: Model) -> np.ndarray:
    """Return the positions in the full space."""
    stepper, state, course = make_solver(model, SolverSettings(**SETTINGS)), model.rest_state(), []
    for _ in range(STEPS):
        state, _report = stepper.step(state, state.positions[model.pinned], STEP)
        course.append(state.positions)
    return np.array(course)


def _pareto() -> Iterable[Row]:
    """Compare a soft beam of one stiffness, 1e5 Pa."""
    warm_up(ignore)
    mesh = block((16, 4, 4), (4.0, 1.0, 1.0))
    model = build_model(mesh, 1e5, 0.45, 1e3, "fixed_corotated", pinned=held_end(mesh))
    exact = _full(model)
    moved = np.linalg.norm(exact - mesh.rest_positions)
    errors, gradients, costs = (np.empty((len(MODES), len(POINTS))) for _ in range(3))
    for j, modes in enumerate(MODES):
        for i, points in enumerate(POINTS):
            course, gradients[j, i], seconds = _falling(model, skinning_subspace(model, modes, points).model)
            errors[j, i], costs[j, i] = np.linalg.norm(course - exact) / moved, 1e3 * seconds
            name = f"{modes} modes, {points} points"
            yield row("pareto", f"{name}: error of the motion", errors[j, i])
            yield row("pareto", f"{name}: gradient / weight", gradients[j, i])
    enough = np.array(POINTS) >= 20 * np.array(MODES)[:, None]
    falls = [errors[j, -1] for j in range(len(MODES))]
    yield row("pareto", "error at 640 points, 32 modes / 2 modes", falls[-1] / falls[0], "", at_most=0.5)
    yield row(
        "pareto", "gradient at 20 points, 32 modes / 2 modes", gradients[-1, 0] / gradients[0, 0], "", at_least=1.0
    )
    worst = float((errors / errors[:, -1:])[enough].max())
    yield row("pareto", "20 points a mode or more: error / error at 640", worst, "", at_most=1.5)
    axes = ("cubature points", "modes", POINTS, MODES)
    draw(
        "subspace",
        "pareto",
        [
            Grid("error of the motion / movement", *axes, errors),
            Grid("full-space gradient / weight (Fig. 11)", *axes, gradients),
            Grid("ms an iteration (Fig. 11)", *axes, costs),
        ],
    )


def _points_per_volume(model: Model, modes: int, points: int, part: np.ndarray) -> tuple[float, np.ndarray]:
    """Return points per volume in some tets (m,) bool over that in the rest, and the points' positions (c,3)."""
    parts = skinning_subspace(model, modes, points).parts
    volumes, inside = model.elastic.weights, part[parts.elements]
    per_volume = inside.sum() / volumes[part].sum(), (~inside).sum() / volumes[~part].sum()
    places = model.mesh.rest_positions[model.mesh.tets[parts.elements]].mean(axis=1)
    return float(per_volume[0] / per_volume[1]), places


def _density() -> Iterable[Row]:
    warm_up(ignore)
    crab, pendulum = creatures.crab(0.05), creatures.pendulum(0.06)
    soft = crab.elastic.parameters[:, 0] < 1e8
    place = pendulum.mesh.rest_positions[pendulum.mesh.tets].mean(axis=1)
    thin = np.abs(place[:, :2]).max(axis=1) < 0.12
    strands = thin & ((place[:, 2] > -0.6) | ((place[:, 2] < -1.02) & (place[:, 2] > -1.68)))
    shots = []
    for name, model, part, modes, points in (
        ("soft joints of the crab", crab, soft, 16, 342),
        ("thin strands of the pendulum", pendulum, strands, 16, 400),
    ):
        denser, places = _points_per_volume(model, modes, points, part)
        yield row("density", f"points per volume, {name} / rest", denser, "", at_least=1.0)
        tets = model.mesh.tets
        shots.append(Snapshot(name, model.mesh.rest_positions, tets, np.where(part, 1.0, 10.0)))
        shots.append(Snapshot(f"{len(places)} points", *_marks(places, 0.012 * model.size)))
    draw("subspace", "density", shots, columns=2)


def _marks(places: np.ndarray, size: float) -> tuple[np.ndarray, np.ndarray]:
    """Return a small tet at every position: positions (4p,3) and tets (p,4)."""
    corners = size * np.array([[0.0, 0, 1], [0.94, 0, -0.33], [-0.47, 0.82, -0.33], [-0.47, -0.82, -0.33]])
    return (places[:, None] + corners).reshape(-1, 3), np.arange(4 * len(places)).reshape(-1, 4)
