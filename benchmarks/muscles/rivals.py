"""A contracting bar, compared with MuJoCo's flex and tendons and Newton's VBD and springs: closed form and time."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
from scipy.optimize import fsolve

from ...core.foundation.events import ignore
from ...core.foundation.schema.settings import SolverSettings
from ...core.mechanics.materials.lame import lame_parameters
from ...core.methods.model.model import Model, build_model
from ...core.methods.solvers import make_solver
from ...core.simulation.frame_loop.compile_kernels import warm_up
from ..bodies import block, held_end
from ..pictures import Snapshot, draw
from ..processes import ask, python_with
from ..registry import Case, Row, row
from .bars import DENSITY, MODULUS, RATIO, STEP, Bar, fibres

CELLS, SIZE = (16, 4, 4), (0.4, 0.1, 0.1)
"""Cubes of six tets along the sides of the bar, and its size, m."""
SCENES = {"muscle": (9e4, 24), "stiff": (1e7, 24), "sudden": (1e7, 1)}
"""Stiffness of the fibres, Pa, three times that of the matrix or that of tendons, and the number of frames in which the
activation rises to 1."""
SHORTENING, FRAMES = 0.3, 48
FREE, SECTION = slice(8, 15, 6), 10
"""Sections between which the stretch is measured, and the one whose width is: away from the held end, which cannot
bulge, and from the free one."""
CLOSE = 1e-3
"""Largest error of our stretches with one step a frame."""
OURS = {"1 step": 1, "10 steps": 10}
RIVALS = {
    "mujoco": ("MuJoCo", {"1 step": (1, 1000, 0.0), "10 steps": (10, 1000, 0.0), "10 steps, damped": (10, 1000, 0.01)}),
    "newton": ("VBD", {"1 step": (1, 10, 0.0), "10 steps": (10, 10, 0.0), "10 steps, damped": (10, 10, 100.0)}),
}
"""Name and settings by module: steps per frame, most iterations per step, and damping, in MuJoCo s, in VBD Pa s."""


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield a case per scene."""
    for name in SCENES:
        yield Case(f"rivals_{name}", partial(_compared, name))


def _closed_form(stiffness: float) -> np.ndarray:
    """Return the stretches along and across a free bar with active fibres: both nominal stresses vanish."""
    mu, lam = lame_parameters(MODULUS, RATIO)

    def stresses(stretches: np.ndarray) -> tuple[float, float]:
        along, across = stretches
        tension = stiffness * (along / (1.0 - SHORTENING) - 1.0)
        pressure = (lam + mu) * (along * across**2 - 1.0) - mu
        return mu * along + pressure * across**2 + tension, mu * across + pressure * along * across

    return fsolve(stresses, (1.0 - SHORTENING, 1.0), xtol=1e-12)


def _activation(rising: int) -> np.ndarray:
    return np.minimum(np.arange(1, FRAMES + 1) / rising, 1.0)


def _ours(model: Model, stiffness: float, rising: int, steps: int) -> dict[str, np.ndarray]:
    """Return positions and processor seconds of each frame by Mixed FEM with the default settings."""
    X = model.mesh.rest_positions
    of = Bar(model, X[model.mesh.tets].mean(axis=1), np.tile([1.0, 0.0, 0.0], (len(model.mesh.tets), 1)))
    solver, state = make_solver(model, SolverSettings(gravity=(0.0, 0.0, 0.0))), model.rest_state()
    positions, seconds = [X], []
    for active in _activation(rising):
        start = time.process_time()
        load = fibres(of, "target_length", stiffness, active, shortening=SHORTENING)
        for _ in range(steps):
            state, _report = solver.step(state, X[model.pinned], STEP / steps, [load])
        seconds.append(time.process_time() - start)
        positions.append(state.positions)
    return {"positions": np.array(positions), "seconds": np.array(seconds)}


def _question(model: Model, stiffness: float, rising: int) -> dict[str, np.ndarray | float]:
    """Return the bar with the fibres of the law Target Length lumped to its edges along x, by the area around each."""
    vertices = _sections()
    sides = [np.r_[0.5, np.ones(count - 1), 0.5] * length / count for count, length in zip(CELLS[1:], SIZE[1:])]
    area = np.tile(np.outer(*sides).ravel(), CELLS[0])
    lengths = (1.0 - SHORTENING * _activation(rising)) * SIZE[0] / CELLS[0]
    mu, lam = lame_parameters(MODULUS, RATIO)
    return {
        "frames": FRAMES,
        "positions": model.mesh.rest_positions,
        "tets": model.mesh.tets,
        "masses": model.lumped_masses,
        "pinned": model.pinned,
        "edges": np.column_stack([vertices[:-1].ravel(), vertices[1:].ravel()]),
        "stiffness": stiffness * area / lengths[:, None],
        "lengths": np.tile(lengths[:, None], len(area)),
        "youngs_modulus": MODULUS,
        "poissons_ratio": RATIO,
        "mu": mu,
        "lam": lam,
    }


def _sections() -> np.ndarray:
    """Return the vertices of each section across the bar."""
    return np.arange(np.prod(np.add(CELLS, 1))).reshape(CELLS[0] + 1, -1)


def _rivals(question: dict) -> Iterator[tuple[str, dict[str, np.ndarray] | None]]:
    """Yield the rivals' settings and answers; None if a rival is not installed."""
    for module, (name, settings) in RIVALS.items():
        python = python_with(module)
        for words, (steps, iterations, damping) in settings.items():
            asked = {"substeps": steps, "iterations": iterations, "damping": damping, "time_step": STEP / steps}
            yield f"{name}, {words}", None if python is None else ask(python, f"{module}_muscle.py", question | asked)


def _compared(name: str) -> Iterable[Row]:
    """Compare a bar held at one end with the rivals: the same tets, energy and fibres."""
    warm_up(ignore)
    case, (stiffness, rising), mesh, shots = f"rivals_{name}", SCENES[name], block(CELLS, SIZE), []
    model = build_model(mesh, MODULUS, RATIO, DENSITY, pinned=held_end(mesh))
    exact = _closed_form(stiffness)
    yield row(case, "closed form, along", float(exact[0]))
    yield row(case, "closed form, across", float(exact[1]))
    answers = {f"ours, {words}": _ours(model, stiffness, rising, steps) for words, steps in OURS.items()}
    first = next(iter(answers))
    for words, found in (answers | dict(_rivals(_question(model, stiffness, rising)))).items():
        if found is None:
            yield row(case, f"{words} is not installed: skipped", float("nan"))
            continue
        yield from _rows(case, words, model, exact, found, CLOSE if words == first else None)
        ratio = float(np.mean(found["seconds"]) / np.mean(answers[first]["seconds"]))
        yield row(case, f"{words}: processor time over {first}", ratio)
        shots.append(Snapshot(words, np.nan_to_num(found["positions"][-1]), mesh.tets))
    draw("muscles", case, shots)


def _rows(
    case: str, words: str, model: Model, exact: np.ndarray, found: dict[str, np.ndarray], bar: float | None = None
) -> Iterator[Row]:
    """Yield the errors of the last frame against the closed form, its volume and speed, and the time of a frame."""
    x, X, sections = found["positions"][-1], model.mesh.rest_positions, _sections()
    yield row(case, f"{words}: processor ms a frame", 1e3 * float(np.mean(found["seconds"])), "ms")
    if not np.abs(x).max() < 10.0 * SIZE[0]:  # also False for NaN
        yield row(case, f"{words}: diverged", float("nan"))
        return
    lengths = [
        np.array([np.diff(y[sections[FREE], 0].mean(axis=1))[0], np.ptp(y[sections[SECTION], 1])]) for y in (x, X)
    ]
    errors = np.abs(lengths[0] / lengths[1] / exact - 1.0)
    corners = x[model.mesh.tets]
    volumes = np.linalg.det(corners[:, 1:] - corners[:, :1]) / 6.0
    yield row(case, f"{words}: error along", float(errors[0]), at_most=bar)
    yield row(case, f"{words}: error across", float(errors[1]), at_most=bar)
    yield row(case, f"{words}: length of the whole bar", float(np.ptp(x[:, 0]) / SIZE[0]))
    yield row(case, f"{words}: volume", float(volumes.sum() / np.prod(SIZE)))
    yield row(case, f"{words}: inverted tets", int((volumes <= 0.0).sum()))
    yield row(case, f"{words}: speed in the last frame", float(np.abs(x - found["positions"][-2]).max() / STEP), "m/s")
    if "warnings" in found:
        yield row(case, f"{words}: warnings", int(found["warnings"]))
