"""Free flight: a falling body neither rotates nor bends, whatever its nodes; a spinning one continues to spin."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from ...core.foundation.events import ignore
from ...core.foundation.schema.settings import SolverSettings
from ...core.methods.model.model import Model, build_model
from ...core.methods.model.state import State
from ...core.methods.solvers import make_solver
from ...core.simulation.frame_loop.compile_kernels import warm_up
from ..bodies import block
from ..measures import angular_momentum
from ..pictures import Curve, Plot, draw
from ..registry import Case, Row, row
from ..released import EARTH, NOWHERE, elastic_energy, kinetic_energy, nearest, with_nodes

SIZE, STEP = (0.1, 0.05, 0.05), 0.005


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield a fall and a spin."""
    yield Case("fall", _fall)
    yield Case("spin", _spin)


def _block(nodes: int) -> Model:
    """Return a soft block with random nodes."""
    model = build_model(block((8, 4, 4), SIZE), 1e4, 0.4, 1e3)
    return with_nodes(model, nearest(model, np.random.default_rng(1).random((nodes, 3)) * SIZE))


def _states(model: Model, start: State, gravity: tuple[float, float, float], count: int) -> Iterator[State]:
    stepper, state = make_solver(model, SolverSettings(solver="conjac", max_iterations=1, gravity=gravity)), start
    yield state
    for _ in range(count):
        state, _report = stepper.step(state, np.zeros((0, 3)), STEP)
        yield state


def _turned(model: Model, state: State) -> float:
    """Return the angle of the best-fit rotation of a body, degrees."""
    m = model.lumped_masses[:, None]
    X, x = (each - (m * each).sum(axis=0) / m.sum() for each in (model.mesh.rest_positions, state.positions))
    U, _, Vt = np.linalg.svd((m * x).T @ X)
    R = U @ np.diag([1.0, 1.0, np.linalg.det(U @ Vt)]) @ Vt
    sine = 0.5 * np.linalg.norm([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    return float(np.degrees(np.arctan2(sine, 0.5 * (np.trace(R) - 1.0))))


def _fall() -> Iterable[Row]:
    """Simulate half a second from rest."""
    warm_up(ignore)
    curves = []
    for nodes in (0, 1, 2, 4, 8):
        model = _block(nodes)
        states = list(_states(model, model.rest_state(), EARTH, 100))
        turned = [_turned(model, state) for state in states]
        bent = [elastic_energy(model, state) for state in states]
        held = nodes >= 4
        yield row("fall", f"turned by, {nodes} nodes", max(turned), "degrees", at_most=1e-6 if held else None)
        yield row("fall", f"elastic energy, {nodes} nodes", max(bent), "J", at_most=1e-12 if held else None)
        fallen = (states[-1].positions - model.mesh.rest_positions)[:, 2].mean()
        yield row("fall", f"fallen over g t² / 2, {nodes} nodes", fallen / (0.5 * EARTH[2] * 0.25))
        curves.append(Curve(f"{nodes} nodes", STEP * np.arange(101), turned))
    draw("conjac", "fall", [Plot("turned by", "t (s)", "degrees", curves)])


def _spin() -> Iterable[Row]:
    """Simulate one revolution per second about z, from the rest shape: it oscillates about a stretched one."""
    warm_up(ignore)
    curves = []
    for nodes in (0, 1, 2, 4, 8):
        model = _block(nodes)
        X = model.mesh.rest_positions
        start = model.state_at(X, np.cross([0.0, 0.0, 2.0 * np.pi], X - X.mean(axis=0)))
        states = list(_states(model, start, NOWHERE, 200))
        energies = np.array([kinetic_energy(model, each) + elastic_energy(model, each) for each in states])
        momenta = np.array([angular_momentum(model, each)[2] for each in states])
        yield row("spin", f"energy lost, {nodes} nodes", 1.0 - energies[-1] / energies[0])
        yield row(
            "spin", f"largest energy over the starting one, less 1, {nodes} nodes", energies.max() / energies[0] - 1.0
        )
        yield row("spin", f"angular momentum lost, {nodes} nodes", 1.0 - momenta[-1] / momenta[0])
        curves.append(Curve(f"{nodes} nodes", STEP * np.arange(201), energies / energies[0]))
    draw("conjac", "spin", [Plot("energy, of the starting one", "t (s)", "", curves)])
