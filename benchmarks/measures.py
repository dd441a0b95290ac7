"""Measures of steps and motions that do not use the solvers' own reports."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.foundation.schema.settings import SolverSettings
from ..core.methods.model.model import Model
from ..core.methods.model.state import State
from ..core.methods.solvers import make_solver
from ..core.numerics.linear_solvers.elastic_system import ElasticSystem
from ..core.numerics.linear_solvers.registry import AUTOMATIC, choose
from ..core.numerics.optimization.step_report import StepReport

EARTH = (0.0, -9.8, 0.0)
"""Gravity of the recorded runs, m/s²."""
STEP = 1 / 30
"""Time step of the recorded runs, s."""
PARTS = ("assembly", "factorization", "solve", "local", "line_search")
"""Parts of an iteration that a report times."""


@dataclass
class StepProblem:
    """Incremental potential of one step of implicit Euler ([MFEM22] Eq. 2), implemented independently.

    ``E(x) = 1/2 |x - x~|_M^2 + h² (W(x) - x . M g)`` over the free vertices; pins keep their initial positions.
    ``weight`` (n,3), N, is the gravitational force on each vertex.
    """

    model: Model
    start: State
    time_step: float = STEP
    gravity: tuple[float, float, float] = EARTH

    def __post_init__(self) -> None:
        self.predicted = self.start.positions + self.time_step * self.start.velocities
        self.weight = np.asarray(self.model.mass.sum(axis=1)).reshape(-1, 1) * np.asarray(self.gravity)
        self._system: ElasticSystem | None = None

    def linear_system(self) -> ElasticSystem:
        """Return a new linear system of the body."""
        return ElasticSystem(self.model.body, choose(AUTOMATIC, self.model.body))

    def value(self, x: np.ndarray) -> float:
        """Return the potential, kg m²."""
        d, h2 = x - self.predicted, self.time_step**2
        elastic = self.model.elastic.value(self.model.elastic.deformation(x))
        return float(0.5 * np.sum(d * (self.model.mass @ d)) + h2 * (elastic - np.sum(self.weight * x)))

    def gradient(self, x: np.ndarray) -> np.ndarray:
        """Return the gradient (n,3), kg m, zero at pins."""
        elastic = self.model.elastic.gradient(self.model.elastic.deformation(x))
        g = self.model.mass @ (x - self.predicted) + self.time_step**2 * (elastic - self.weight)
        g[self.model.pinned] = 0.0
        return g

    def decrement(self, x: np.ndarray) -> float:
        """Return Newton's decrement ``sqrt(g . H^-1 g)`` with the projected Hessian, kg^(1/2) m."""
        g = self.gradient(x)
        if self._system is None:
            self._system = self.linear_system()
        tangent = self.model.elastic.tangent(self.model.elastic.deformation(x))
        self._system.assemble_tangent(tangent, self.time_step**2, x)
        self._system.factorize()
        return float(np.sqrt(max(np.sum(g * self._system.solve(g)), 0.0)))

    def gradient_noise(self, x: np.ndarray, draws: int = 4) -> float:
        """Return the change of the gradient's norm when every coordinate of x changes by one ulp up or down, kg m."""
        rng = np.random.default_rng(0)
        g = self.gradient(x)
        moved = (np.nextafter(x, np.where(rng.random(x.shape) < 0.5, -np.inf, np.inf)) for _ in range(draws))
        return float(np.mean([np.linalg.norm(self.gradient(y) - g) for y in moved]))

    def step(self, solver: str, iterations: int, **settings: Any) -> tuple[State, StepReport]:
        """Take the step with a solver, stopped by the iteration cap or round-off unless the settings say otherwise."""
        return step(self.model, self.start, solver, iterations, self.time_step, self.gravity, **settings)


def step(
    model: Model,
    state: State,
    solver: str,
    iterations: int,
    time_step: float = STEP,
    gravity: tuple[float, float, float] = EARTH,
    **settings: Any,
) -> tuple[State, StepReport]:
    """Take one step with fixed pins; gradients of Mixed FEM are recorded."""
    made = _make(model, solver, iterations, gravity, settings)
    return made.step(state, state.positions[model.pinned], time_step)


def run(
    model: Model,
    state: State,
    solver: str,
    iterations: int,
    steps: int,
    observe: Callable[[State], Any],
    time_step: float = STEP,
    gravity: tuple[float, float, float] = EARTH,
    **settings: Any,
) -> list[Any]:
    """Return ``observe`` of the initial and every later state, with fixed pins."""
    made = _make(model, solver, iterations, gravity, settings)
    targets = state.positions[model.pinned]
    seen = [observe(state)]
    for _ in range(steps):
        state, _report = made.step(state, targets, time_step)
        seen.append(observe(state))
    return seen


def _make(
    model: Model, solver: str, iterations: int, gravity: tuple[float, float, float], settings: dict[str, Any]
) -> Any:
    chosen = {"tolerance": 0.0, "linear_solver": "cholmod", **settings}
    made = make_solver(model, SolverSettings(solver=solver, max_iterations=iterations, gravity=gravity, **chosen))
    if solver == "mixed_fem":
        made.record_gradients = True
    return made


def gradient_norms(report: StepReport, length: int) -> np.ndarray:
    """Return gradient norms before the first iteration and after each, (length+1,), padded with the last one."""
    norms = [iteration.gradient_norm for iteration in report.history] + [report.gradient_norm]
    return np.array(norms + [norms[-1]] * (length + 1 - len(norms)))


def energy(model: Model, state: State, gravity: tuple[float, float, float] = EARTH) -> float:
    """Return kinetic, elastic and gravitational energy in sum, J."""
    v, x = state.velocities, state.positions
    weight = np.asarray(model.mass.sum(axis=1)).reshape(-1, 1) * np.asarray(gravity)
    elastic = model.elastic.value(model.elastic.deformation(x))
    return float(0.5 * np.sum(v * (model.mass @ v)) + elastic - np.sum(weight * x))


def angular_momentum(model: Model, state: State) -> np.ndarray:
    """Return the angular momentum about the origin, (3,), kg m²/s."""
    return np.cross(state.positions, model.mass @ state.velocities).sum(axis=0)


@dataclass(frozen=True)
class Cost:
    """Seconds per iteration: its parts, and their sum."""

    parts: dict[str, float]
    whole: float


def iteration_cost(model: Model, state: State, solvers: Sequence[str], repeats: int) -> list[Cost]:
    """Return the cost of an iteration of each solver: the shortest of several interleaved runs for every part.

    Two iterations are run, before Mixed FEM hands over to Newton. Line search time is that of two iterations minus that
    of one, which includes the start of the step. The first run of each is not counted.
    """
    direct = {"linear_solver": "cholmod"}
    made = [[_make(model, solver, iterations, EARTH, direct) for iterations in (1, 2)] for solver in solvers]
    for solver in (solver for pair in made for solver in pair):
        if hasattr(solver, "record_gradients"):
            solver.record_gradients = False
    shortest_parts = [[dict.fromkeys(PARTS, np.inf) for _ in pair] for pair in made]
    for repeat in range(repeats + 1):
        for k, pair in enumerate(made):
            for solver, best in zip(pair, shortest_parts[k]):
                _end, report = solver.step(state, state.positions[model.pinned], STEP)
                if repeat:
                    best.update({part: min(best[part], report.seconds.get(part, 0.0)) for part in PARTS})
    parts = [{part: two[part] / 2 for part in PARTS} for _, two in shortest_parts]
    for each, (one, two) in zip(parts, shortest_parts):
        each["line_search"] = two["line_search"] - one["line_search"]
    return [Cost(each, sum(each.values())) for each in parts]


def shortest(action: Callable[[], Any], repeats: int) -> float:
    """Return the seconds of the fastest of several calls, after one that is not counted."""
    action()
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        seconds.append(time.perf_counter() - start)
    return min(seconds)
