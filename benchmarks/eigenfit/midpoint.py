"""Theta-midpoint rule: its order, its dissipation, a soft bar compared with BDF2, unconverged steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.linalg

from ...core.foundation.schema.settings import SolverSettings
from ...core.methods.model.model import Model, build_model
from ...core.methods.model.state import State
from ...core.methods.solvers import make_solver
from ...core.numerics.optimization.step_report import REDONE_BY
from ..bodies import block, held_end
from ..measures import energy
from ..pictures import Curve, Plot, draw
from ..registry import Case, Row, row

DEFAULT = SolverSettings().theta
THETAS = {"theta 0.5": 0.5, "default": DEFAULT}
RULES = {
    "implicit Euler": {"integrator": "backward_euler"},
    "BDF2": {"integrator": "bdf2"},
    "theta midpoint": {"integrator": "theta_midpoint"},
}
EARTH, NOWHERE = (0.0, 0.0, -9.81), (0.0, 0.0, 0.0)
RATE, FINER = 48, 32
"""Steps per second of the soft bar, two per frame, and reference steps for each, with BDF2."""
SECONDS = 2.0


class Motion(NamedTuple):
    """Initial state and each later one: positions (k,n,3) m, kinetic energy and total energy (k,) J; the number of
    iterations, and of steps recomputed by another rule.
    """

    positions: np.ndarray
    kinetic: np.ndarray
    energies: np.ndarray
    iterations: int
    redone: int


def cases(data: Path | None) -> Iterator[Case]:
    """Yield the cases; the soft bar is named ``midpoint``."""
    yield Case("midpoint_order", _order)
    yield Case("midpoint_dissipation", _dissipation)
    yield Case("midpoint", _soft_bar)
    yield Case("midpoint_guard", _guard)


def _move(
    model: Model, start: State, rate: float, seconds: float, gravity: tuple[float, float, float], **settings: object
) -> Motion:
    chosen = {"max_iterations": 100, "tolerance": 1e-9, **settings}
    stepper, state = make_solver(model, SolverSettings(gravity=gravity, **chosen)), start
    seen, iterations, redone = [], 0, 0
    for k in range(round(rate * seconds) + 1):
        if k:
            state, report = stepper.step(state, start.positions[model.pinned], 1.0 / rate)
            iterations += report.iterations
            redone += REDONE_BY in report.reason
        v = state.velocities
        seen.append((state.positions, 0.5 * np.sum(v * (model.mass @ v)), energy(model, state, gravity)))
    return Motion(*(np.array(each) for each in zip(*seen, strict=True)), iterations, redone)


def _farthest(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the largest vertex distance of two motions at each time, m."""
    return np.linalg.norm(a - b, axis=2).max(axis=1)


def _order() -> Iterable[Row]:
    """Measure ``log2 |x_h - x_h/2| / |x_h/2 - x_h/4|`` of a soft bar that spins and bends in free flight."""
    model = build_model(block((8, 2, 2), (0.4, 0.1, 0.1)), 3e3, 0.3, 1e3)
    X = model.mesh.rest_positions
    velocities = np.cross([0.0, 0.0, 2.0 * np.pi], X - X.mean(axis=0))
    velocities[:, 2] += 0.5 * np.cos(5.0 * np.pi * X[:, 0])
    curves, counts = [], np.array([40, 80, 160, 320])
    for name, theta in THETAS.items():
        rule = {"integrator": "theta_midpoint", "theta": theta, "tolerance": 1e-11}
        moves = [_move(model, model.state_at(X, velocities), 5.0 * count, 0.2, NOWHERE, **rule) for count in counts]
        apart = [_farthest(a.positions[-1:], b.positions[-1:])[0] for a, b in zip(moves, moves[1:])]
        orders = np.log2(np.array(apart[:-1]) / apart[1:])
        yield row("midpoint_order", f"order, {name}", orders[-1])
        if theta == 0.5:
            yield row("midpoint_order", "|order - 2| at theta 0.5", abs(orders[-1] - 2.0), "", at_most=0.1)
            gained = [np.ptp(move.energies) / move.energies[0] for move in moves]
            yield row("midpoint_order", "most that the energy is off, 40 steps", gained[0])
            yield row("midpoint_order", "most that the energy is off, 320 steps", gained[-1])
        curves.append(Curve(name, 0.2 / counts[:-1], apart, "o-"))
    draw("eigenfit", "midpoint_order", [Plot("difference to the step halved, m", "step, s", "m", curves, True, True)])


def _dissipation() -> Iterable[Row]:
    """Compare the first vibration of a free, linear bar with ``((1 + i (1 - theta) w) / (1 - i theta w))^n``."""
    model = build_model(block((4, 1, 1), (0.4, 0.1, 0.1)), 1e4, 0.3, 1e3, "linear")
    omega, mode = _vibration(model)
    X, curves, worst = model.mesh.rest_positions, [], 0.0
    steps = np.arange(41)
    for name, theta in THETAS.items():
        for per_period in (6, 20, 100):
            w = 2.0 * np.pi / per_period
            rate = omega / w
            rule = {"solver": "newton", "integrator": "theta_midpoint", "theta": theta, "tolerance": 1e-13}
            moved = _move(model, model.state_at(X + 1e-3 * mode), rate, 40.0 / rate, NOWHERE, **rule)
            q = np.einsum("kni,ni->k", moved.positions - X, model.mass @ mode) / 1e-3
            expected = ((1.0 + 1j * (1.0 - theta) * w) / (1.0 - 1j * theta * w)) ** steps
            worst = max(worst, float(np.abs(q - expected.real).max()))
            lost = 1.0 - abs(expected[1]) ** per_period
            yield row("midpoint_dissipation", f"{name}, {per_period} steps a period, lost of the amplitude in it", lost)
            curves.append(Curve(f"{name}, {per_period} a period", steps, q))
    yield row("midpoint_dissipation", "farthest from the closed form, of the amplitude", worst, "", at_most=1e-6)
    euler = (1.0 - 1.0 / np.sqrt(1.0 + w * w)) / (1.0 - abs(expected[1]))
    yield row("midpoint_dissipation", "implicit Euler loses, times as much (100 a period)", euler, "", at_least=15.0)
    draw("eigenfit", "midpoint_dissipation", [Plot("a vibration", "step", "of the amplitude", curves)])


def _vibration(model: Model) -> tuple[float, np.ndarray]:
    """Return the first vibration that is not rigid: angular frequency, 1/s, and shape (n,3) of mass 1 kg."""
    X, elastic = model.mesh.rest_positions, model.elastic
    tangent, moves = elastic.tangent(elastic.deformation(X)), np.eye(X.size).reshape(-1, *X.shape)
    K = np.array([elastic.nodal_forces(tangent.stress_change(elastic.delta_F(u))).ravel() for u in moves])
    squares, modes = scipy.linalg.eigh(K, np.kron(model.mass.toarray(), np.eye(3)))
    return float(np.sqrt(squares[6])), modes[:, 6].reshape(X.shape)


def _soft_bar() -> Iterable[Row]:
    """Simulate a bar of 1 m and 1e5 Pa, held at one end, that falls under its weight and swings; two iterations per
    step, which cost the same with every rule.
    """
    mesh = block((10, 2, 2), (1.0, 0.2, 0.2))
    model = build_model(mesh, 1e5, 0.3, 1e3, pinned=held_end(mesh))
    start = model.rest_state()
    true = _move(model, start, FINER * RATE, SECONDS, EARTH, **RULES["BDF2"])
    times, there = np.arange(round(RATE * SECONDS) + 1) / RATE, slice(None, None, FINER)
    errors, curves = {}, []
    for name, rule in RULES.items():
        moved = _move(model, start, RATE, SECONDS, EARTH, max_iterations=2, **rule)
        away = _farthest(moved.positions, true.positions[there])
        errors[name] = away.max()
        share = moved.kinetic.mean() / true.kinetic[there].mean()
        yield row("midpoint", f"{name}: error, of the size", errors[name])
        yield row("midpoint", f"{name}: iterations", moved.iterations)
        bar = {"at_least": 0.8} if name == "theta midpoint" else {}
        yield row("midpoint", f"{name}: kinetic energy, of the reference's", share, "", **bar)
        curves.append(Curve(name, times, away))
    ratio = errors["theta midpoint"] / errors["BDF2"]
    yield row("midpoint", "error, of BDF2's at the same cost", ratio, "", at_most=0.5)
    draw("eigenfit", "midpoint", [Plot("soft bar, away from the reference", "t (s)", "m", curves)])


def _guard() -> Iterable[Row]:
    """Measure the largest relative energy of bars thrown sideways, with one and two iterations per step."""
    mesh = block((10, 2, 2), (1.0, 0.2, 0.2))
    across = mesh.rest_positions[mesh.tets].mean(axis=1)[:, 0]
    boned = np.where(np.abs(across - 0.5) < 0.25, 1e9, 1e5)
    for name, modulus in {"1e4 Pa": 1e4, "1e5 Pa": 1e5, "1e6 Pa": 1e6, "bone in flesh": boned}.items():
        model = build_model(mesh, modulus, 0.3, 1e3, pinned=held_end(mesh))
        X = mesh.rest_positions
        start = model.state_at(X, 4.0 * X[:, :1] ** 2 * [0.0, 1.0, 0.0])
        for cap in (1, 2):
            moved = _move(
                model, start, RATE, 1.0, NOWHERE, max_iterations=cap, tolerance=1e-5, **RULES["theta midpoint"]
            )
            most, what = moved.kinetic.max() / moved.kinetic[0], f"{name}, {cap} iteration{'s' * (cap > 1)}"
            yield row("midpoint_guard", f"{what}: most kinetic energy, of the first", most, "", at_most=1.02)
            yield row("midpoint_guard", f"{what}: steps by another rule, of 48", moved.redone)
