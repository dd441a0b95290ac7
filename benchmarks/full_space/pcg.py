"""Conjugate gradients compared with the direct solver: cost of an iteration, benefit of deflation, error over time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ...core.foundation.events import ignore
from ...core.foundation.schema.settings import SolverSettings
from ...core.methods.model.model import Model
from ...core.methods.model.state import State
from ...core.methods.solvers import make_solver
from ...core.numerics.linear_solvers.cholmod import CholmodSolver
from ...core.numerics.linear_solvers.conjugate_gradient import ConjugateGradients
from ...core.simulation.frame_loop.compile_kernels import warm_up
from ..bodies import bent_beam, has, recorded
from ..measures import EARTH, PARTS, STEP
from ..pictures import Curve, Plot, draw
from ..registry import Case, Row, row

CELLS = (66, 16, 16)
"""19,363 vertices and 101,376 tets."""
REPEATS = 6
SOFT, STIFF = 6e4, 1e10


def cases(data: Path | None) -> Iterator[Case]:
    """Yield the beam built in code, and the gummy bear if available."""
    yield Case("pcg_iteration", _iteration)
    if has(data, "gummy_bear"):
        yield Case("pcg_deflation", lambda: _deflation(data))
        yield Case("pcg_time", lambda: _time(data))


def _solver(model: Model, iterations: int, **settings: Any) -> Any:
    return make_solver(model, SolverSettings(max_iterations=iterations, tolerance=0.0, gravity=EARTH, **settings))


def _costs(model: Model, state: State, iterations: int) -> list[dict[str, float]]:
    """Return seconds per iteration by part, of the direct solver and of conjugate gradients alternately: the shortest
    of several runs.
    """
    routes = [
        _solver(model, iterations, linear_solver="cholmod"),
        _solver(model, iterations, linear_solver="pcg"),
    ]
    runs: list[list[dict[str, float]]] = [[], []]
    for repeat in range(REPEATS + 1):
        for solver, seen in zip(routes, runs):
            _end, report = solver.step(state, state.positions[model.pinned], STEP)
            if repeat:
                seen.append({part: report.seconds.get(part, 0.0) / report.iterations for part in PARTS})
    return [{part: min(run[part] for run in seen) for part in PARTS} for seen in runs]


def _iteration() -> Iterable[Row]:
    """Time an iteration of Mixed FEM with either linear solver at 100,000 tets."""
    warm_up(ignore)
    model, state = bent_beam(CELLS)
    direct, iterative = _costs(model, state, 3)
    for part in PARTS:
        yield row("pcg_iteration", f"{part}, direct", 1e3 * direct[part], "ms")
        yield row("pcg_iteration", f"{part}, conjugate gradients", 1e3 * iterative[part], "ms")
    ratio = sum(iterative.values()) / sum(direct.values())
    yield row("pcg_iteration", "conjugate gradients / direct", ratio, "", at_most=0.5)


def _deflation(data: Path) -> Iterable[Row]:
    """Measure the error of conjugate gradients over their iterations, in the linear system of a step's third iteration.

    The first two iterations of the step remove the rotation; the rest exceeds an affine guess.
    """
    warm_up(ignore)
    model, state = recorded(data, "gummy_bear", SOFT, STIFF)
    blocks, b, exact = _third_system(model, state)
    body = model.body
    whole = np.zeros(len(body.rest_positions) - len(body.pinned), dtype=np.int64)
    ways: dict[str, dict[str, Any]] = {"pieces of stiff parts": {}, "whole body": {"groups": whole}}
    counts, curves = (0, 5, 10, 20, 40, 80), []
    for name, options in ways.items():
        errors = []
        for count in counts:
            solver = ConjugateGradients(body, CholmodSolver, tolerance=1e-14, **options)
            solver.most_iterations = count
            solver.fill(blocks)
            solver.try_factorize()
            errors.append(float(np.abs(solver.solve(b) - exact).max() / np.abs(exact).max()))
        curves.append(Curve(name, counts, errors, "o-"))
        bar = 1e-4 if name == "pieces of stiff parts" else None
        yield row("pcg_deflation", f"error after 40, {name}", errors[counts.index(40)], "", at_most=bar)
    plot = Plot("gummy bear, stiff part 1e10 Pa", "inner iterations", "error of dx", curves, log_y=True)
    draw("full-space", "pcg_deflation", [plot])


def _third_system(model: Model, state: State) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return element blocks (m,10,3,3), right-hand side and exact solution (f,3) of the third iteration of a step."""
    solver = _solver(model, 3, linear_solver="cholmod")
    exact_solve, seen = solver.system.solve, []

    def watched(b: np.ndarray) -> np.ndarray:
        seen.append((b, exact_solve(b)))
        return seen[-1][1]

    solver.system.solve = watched
    solver.step(state, state.positions[model.pinned], STEP)
    free = solver.system.free
    return solver.system.blocks, seen[-1][0][free], seen[-1][1][free]


def _time(data: Path) -> Iterable[Row]:
    """Measure the distance of the bear from the minimiser after the time of some iterations with the direct solver.

    The time of the first one may suffice for only one of the others, the same iteration solved less accurately: no bar.
    """
    warm_up(ignore)
    model, state = recorded(data, "gummy_bear", SOFT, STIFF)
    exact = _solver(model, 60, linear_solver="cholmod").step(state, state.positions[model.pinned], STEP)[0].positions
    direct, iterative = (sum(cost.values()) for cost in _costs(model, state, 3))
    yield row("pcg_time", "iteration, direct", 1e3 * direct, "ms")
    yield row("pcg_time", "iteration, conjugate gradients", 1e3 * iterative, "ms")
    for iterations in (1, 2, 3, 4):
        fitting = max(int(iterations * direct / iterative), 1)
        after_direct = _distance(model, state, exact, iterations, linear_solver="cholmod")
        after = _distance(model, state, exact, fitting, linear_solver="pcg")
        what = f"{fitting} with conjugate gradients / {iterations} direct"
        yield row("pcg_time", f"distance, {iterations} direct", after_direct)
        yield row("pcg_time", f"distance, {what}", after / after_direct, "", at_most=1.0 if iterations > 1 else None)


def _distance(model: Model, state: State, exact: np.ndarray, iterations: int, **settings: Any) -> float:
    """Return the root mean square distance from the minimiser, in sizes of the body."""
    end = _solver(model, iterations, **settings).step(state, state.positions[model.pinned], STEP)[0]
    return float(np.sqrt(np.mean(np.sum((end.positions - exact) ** 2, axis=1))) / model.mesh.size)
