"""Peers on the same bodies: simkit's full-space Mixed FEM, and MuJoCo's deformable (optional installs; see docs)."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from ...core.foundation.events import ignore
from ...core.foundation.schema.settings import SolverSettings
from ...core.methods.model.model import Model, build_model
from ...core.methods.model.state import State
from ...core.methods.solvers import make_solver
from ...core.simulation.frame_loop.compile_kernels import warm_up
from ..bodies import block, has, held_end, recorded, stiff_slabs
from ..measures import EARTH, STEP, run
from ..pictures import Curve, Plot, Snapshot, draw
from ..processes import ask, python_with
from ..registry import Case, Row, row

SLABS = (1e9, 1e6)
BEAM_STEP = 1 / 60
DOWN = (0.0, 0.0, -9.8)
# simkit orders a symmetric matrix 11, 22, 33, 12, 13, 23; we 11, 22, 33, 23, 13, 12: an involution.
SIMKIT_ORDER = [0, 1, 2, 5, 4, 3]


def cases(data: Path | None) -> Iterator[Case]:
    """Yield both peers on a beam, and simkit on the gummy bear."""
    yield Case("simkit_beam", lambda: _simkit("simkit_beam", *_beam("stable_neo_hookean"), BEAM_STEP, DOWN, 3, 10.0))
    if data is not None and has(data, "gummy_bear"):
        bear = data
        yield Case(
            "simkit_bear",
            lambda: _simkit("simkit_bear", *recorded(bear, "gummy_bear", 6e4, 1e10), STEP, EARTH, 1, 6.0),
        )
    yield Case("mujoco_beam", _mujoco)


def _beam(energy: str) -> tuple[Model, State]:
    """Return a cantilever of 1 x 0.2 x 0.2 m, 1,920 tets, slabs of alternately 1e6 and 1e9 Pa, at rest."""
    mesh = block((20, 4, 4), (1.0, 0.2, 0.2))
    model = build_model(mesh, stiff_slabs(mesh, *SLABS), 0.4, 1e3, energy, pinned=held_end(mesh))
    return model, model.rest_state()


def _ours(
    model: Model, state: State, iterations: int, steps: int, time_step: float, gravity: tuple[float, float, float]
) -> tuple[np.ndarray, np.ndarray]:
    """Return positions and seconds of every step by Mixed FEM."""
    solver = make_solver(model, SolverSettings(max_iterations=iterations, tolerance=0.0, gravity=gravity))
    targets = state.positions[model.pinned]
    positions, seconds = [], []
    for _ in range(steps):
        start = time.perf_counter()
        state, _report = solver.step(state, targets, time_step)
        seconds.append(time.perf_counter() - start)
        positions.append(state.positions)
    return np.array(positions), np.array(seconds)


def _simkit(
    case: str,
    model: Model,
    state: State,
    time_step: float,
    gravity: tuple[float, float, float],
    steps: int,
    at_least: float,
) -> Iterable[Row]:
    """Compare with the same mesh, energy, mass, step and number of iterations, from the same state."""
    python, iterations = python_with("simkit"), 5
    if python is None:
        yield row(case, "simkit is not installed: skipped", float("nan"))
        return
    warm_up(ignore)
    mu, lam = model.elastic.parameters.T
    mass = model.mass.tocsr()
    question = {
        "rest_positions": model.mesh.rest_positions,
        "tets": model.mesh.tets,
        "pinned": model.pinned,
        "time_step": time_step,
        "mu": mu,
        "lam": lam + mu,  # second parameter of Stable Neo-Hookean
        "volumes": model.elastic.weights,
        "mass_data": mass.data,
        "mass_indices": mass.indices,
        "mass_indptr": mass.indptr,
        "forces": np.asarray(mass.sum(axis=1)).reshape(-1, 1) * np.array(gravity),
        "positions": state.positions,
        "velocities": state.velocities,
        "stretch": state.stretch[:, SIMKIT_ORDER],
        "steps": steps,
        "iterations": iterations,
    }
    answer = ask(python, "simkit_mixed_fem.py", question)
    _ours(model, state, iterations, 1, time_step, gravity)
    runs = [_ours(model, state, iterations, steps, time_step, gravity) for _ in range(3)]
    seconds = min(float(s.min()) for _, s in runs)
    exact = np.array(
        run(model, state, "mixed_fem", 200, steps, lambda s: s.positions, time_step, gravity, tolerance=1e-12)[1:]
    )
    size = model.mesh.size
    yield row(case, "tets", len(model.mesh.tets))
    yield row(case, f"simkit, {iterations} iterations", 1e3 * answer["seconds"].min(), "ms a step")
    yield row(case, f"ours, {iterations} iterations", 1e3 * seconds, "ms a step")
    yield row(case, "simkit / ours", float(answer["seconds"].min() / seconds), "", at_least=at_least)
    yield row(case, "simkit: distance to the converged / size", np.abs(answer["positions"] - exact).max() / size)
    yield row(case, "ours: distance to the converged / size", np.abs(runs[0][0] - exact).max() / size)
    E = model.elastic.parameters[:, 0]
    view = (0.3, 0.9, -0.4) if gravity == DOWN else (0.2, -0.3, -1.0)
    up = (0.0, 0.0, 1.0) if gravity == DOWN else (0.0, 1.0, 0.0)
    shots = [
        Snapshot(f"{who}, {1e3 * s:.0f} ms a step", x[-1], model.mesh.tets, E, view, up)
        for who, x, s in (
            ("simkit", answer["positions"], answer["seconds"].min()),
            ("ours", runs[0][0], seconds),
        )
    ]
    draw("full-space", case, shots)


def _mujoco() -> Iterable[Row]:
    """Compare one second of the beam: distance to the converged motion over the time of a step."""
    python, steps = python_with("mujoco"), 60
    if python is None:
        yield row("mujoco_beam", "mujoco is not installed: skipped", float("nan"))
        return
    warm_up(ignore)
    model, state = _beam("stvk")
    size = model.mesh.size
    exact = np.array(
        run(model, state, "mixed_fem", 200, steps, lambda s: s.positions, BEAM_STEP, DOWN, tolerance=1e-11)[1:]
    )
    yield row("mujoco_beam", "lowest point at 1 s, converged", exact[-1, :, 2].min(), "m")
    peer, ours, ends = [], [], {}
    for iterations in (30, 100, 300, 1000, 3000):
        answer = ask(python, "mujoco_flex.py", _flex_question(model, steps, iterations))
        error = np.abs(answer["positions"] - exact).max() / size
        peer.append((1e3 * float(np.median(answer["seconds"])), error))
        ends[f"MuJoCo, {iterations}"] = answer["positions"][-1]
        yield from _mujoco_rows(f"MuJoCo, {iterations} CG iterations", peer[-1], answer["positions"])
    for iterations in (1, 2, 3, 5):
        positions, seconds = _ours(model, state, iterations, steps, BEAM_STEP, DOWN)
        ours.append((1e3 * float(np.median(seconds)), np.abs(positions - exact).max() / size))
        ends[f"ours, {iterations}"] = positions[-1]
        yield from _mujoco_rows(f"ours, {iterations} iterations", ours[-1], positions)
    for (milliseconds, error), label in zip(peer, ("30", "100", "300", "1000", "3000")):
        in_time = [e for ms, e in ours if ms <= milliseconds]
        if in_time:
            yield row(
                "mujoco_beam", f"MuJoCo's error / ours in its time, {label}", error / min(in_time), "", at_least=1
            )
    curves = [Curve("MuJoCo flex", *zip(*peer), "C7s-"), Curve("ours", *zip(*ours), "C1o-")]
    plot = Plot("a second of the beam", "ms a step", "largest error / size", curves, True, True)
    E = model.elastic.parameters[:, 0]
    shown = {"converged": exact[-1], **{name: ends[name] for name in ("MuJoCo, 100", "MuJoCo, 1000", "ours, 2")}}
    shots = [Snapshot(f"{name}, 1 s", x, model.mesh.tets, E, (0.3, 0.9, -0.2)) for name, x in shown.items()]
    draw("full-space", "mujoco_beam", [plot, *shots], columns=5)


def _mujoco_rows(name: str, measured: tuple[float, float], positions: np.ndarray) -> Iterator[Row]:
    yield row("mujoco_beam", name, measured[0], "ms a step")
    yield row("mujoco_beam", f"{name}: largest error / size", measured[1])
    yield row("mujoco_beam", f"{name}: lowest point at 1 s", positions[-1, :, 2].min(), "m")


def _flex_question(model: Model, steps: int, iterations: int) -> dict[str, np.ndarray | float | int]:
    return {
        "rest_positions": model.mesh.rest_positions,
        "tets": model.mesh.tets,
        "pinned": model.pinned,
        "time_step": BEAM_STEP,
        "vertex_masses": np.asarray(model.mass.sum(axis=1)).ravel(),
        "youngs_modulus": stiff_slabs(model.mesh, *SLABS),
        "poissons_ratio": 0.4,
        "gravity": np.array(DOWN),
        "steps": steps,
        "iterations": iterations,
    }
