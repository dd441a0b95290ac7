"""simkit's Mixed FEM in the same subspace of the same body (an optional install; see docs)."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from ...core.foundation.events import ignore
from ...core.foundation.schema.settings import SolverSettings
from ...core.methods.model.model import Model
from ...core.methods.model.state import State
from ...core.methods.solvers import make_solver
from ...core.methods.subspaces.reduced_model import ReducedModel, skinning_subspace
from ...core.simulation.frame_loop.compile_kernels import warm_up
from ..bodies import bent_beam, has, recorded
from ..full_space.peers import SIMKIT_ORDER
from ..measures import EARTH, STEP
from ..pictures import Plot, Snapshot, draw
from ..processes import ask, python_with
from ..registry import Case, Row, row

MODES, POINTS = 16, 320
ITERATIONS, STEPS = 2, 30
ROUNDS, REPEATED = 4, 10
"""Rounds in which both alternate, since a machine's speed drifts, and repetitions of ours in each, to last longer."""

SWING = 10
"""Steps of the converged run that produces the state."""


def cases(data: Path | None) -> Iterator[Case]:
    """Yield the gummy bear if available, else a beam with as many tets."""
    yield Case("simkit", lambda: _simkit(_body(data)))


def _body(data: Path | None) -> Model:
    if data is not None and has(data, "gummy_bear"):
        return recorded(data, "gummy_bear", 6e4, 1e10)[0]
    return bent_beam((42, 10, 10))[0]


def _steps(space: ReducedModel, state: State, steps: int, **settings: float) -> tuple[list[State], list[float]]:
    """Return states and seconds of every step."""
    solver = make_solver(space, SolverSettings(solver="subspace_mixed_fem", gravity=EARTH, **settings))
    states, seconds = [], []
    for _ in range(steps):
        start = time.perf_counter()
        state, _report = solver.step(state, state.positions[space.pinned], STEP)
        seconds.append(time.perf_counter() - start)
        states.append(state)
    return states, seconds


def _simkit(model: Model) -> Iterable[Row]:
    """Compare with the same basis, cubature, energy, mass, step and iterations, from the same state."""
    python = python_with("simkit")
    if python is None:
        yield row("simkit", "simkit is not installed: skipped", float("nan"))
        return
    warm_up(ignore)
    space = skinning_subspace(model, MODES, POINTS)
    tets, space = space.parts.elements, space.model
    state = _steps(space, space.rest_state(), SWING, max_iterations=100, tolerance=1e-9)[0][-1]
    free = np.setdiff1d(np.arange(space.unknowns), space.pinned)
    mu, lam = space.elastic.parameters.T
    question = {
        "rest_positions": model.mesh.rest_positions,
        "tets": model.mesh.tets[tets],
        "basis": space.basis[:, free],
        "mass": space.mass[np.ix_(free, free)],
        "forces": space.lumped_masses[free, None] * np.array(EARTH),
        "time_step": STEP,
        "mu": mu,
        "lam": lam + mu,  # second parameter of Stable Neo-Hookean
        "volumes": space.elastic.weights,
        "positions": state.positions[free],
        "velocities": state.velocities[free],
        "stretch": state.stretch[:, SIMKIT_ORDER],
        "steps": STEPS,
        "iterations": ITERATIONS,
    }
    settings = {"max_iterations": ITERATIONS, "tolerance": 0.0}
    own = _steps(space, state, STEPS, **settings)[0]
    rounds = []
    for _ in range(ROUNDS):
        answer, alone = (ask(python, "simkit_mixed_fem.py", question, threads) for threads in (None, 1))
        own_seconds = [_steps(space, state, STEPS, **settings)[1] for _ in range(REPEATED)]
        rounds.append([answer["seconds"], alone["seconds"], np.median(own_seconds, axis=0)])
    exact = _steps(space, state, STEPS, max_iterations=200, tolerance=1e-12)[0]
    seconds = np.array(rounds)  # (rounds, simkit | with one thread | ours, steps)
    theirs, alone, ours = np.median(seconds, axis=(0, 2))
    fastest = seconds.min(axis=(0, 2))
    yield row("simkit", "tets", len(model.mesh.tets))
    yield row("simkit", f"simkit, {ITERATIONS} iterations", 1e3 * theirs, "ms a step, median")
    yield row("simkit", f"ours, {ITERATIONS} iterations", 1e3 * ours, "ms a step, median")
    yield row("simkit", "simkit / ours", theirs / ours, "", at_least=40.0)
    each = [f"{float(np.median(their) / np.median(our)):.0f}" for their, _alone, our in seconds]
    yield row("simkit", f"simkit / ours in each round: {', '.join(each)}", float("nan"))
    yield row("simkit", "simkit with one BLAS thread", 1e3 * alone, "ms a step, median")
    yield row("simkit", "simkit with one BLAS thread / ours", alone / ours)
    for name, least in zip(("simkit", "simkit with one BLAS thread", "ours"), fastest, strict=True):
        yield row("simkit", f"fastest steps: {name}", 1e3 * least, "ms")
    peer = [space.basis[:, free] @ U for U in answer["positions"]]
    size = model.mesh.size
    for name, found in (("simkit", peer), ("ours", [space.basis @ each.positions for each in own])):
        off = max(np.abs(u - space.basis @ e.positions).max() for u, e in zip(found, exact, strict=True))
        yield row("simkit", f"{name}: distance to the converged / size", off / size)
    X, E = model.mesh.rest_positions, model.elastic.parameters[:, 0]
    shots: list[Plot | Snapshot] = [
        Snapshot(f"{name}, {1e3 * s:.1f} ms a step", X + u, model.mesh.tets, E, (0.2, -0.3, -1.0), (0.0, 1.0, 0.0))
        for name, u, s in (("simkit", peer[-1], theirs), ("ours", space.basis @ own[-1].positions, ours))
    ]
    draw("subspace", "simkit", shots)
