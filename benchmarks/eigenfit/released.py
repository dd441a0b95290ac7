"""Bodies at two resolutions with released pins or none: matched by the modes with the fewest pins."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from ...core.methods.model.model import Model
from ...core.methods.model.state import State
from ..bodies import has
from ..measures import angular_momentum
from ..pictures import Curve, Plot, draw
from ..registry import Case, Row, row
from ..resolutions import DEFAULT, PUSHED, STEP, Course, Pair, Specimen, Way, course, motions, pair_of, push, told
from .nonlinear import bars, shared

CONSERVING = {"integrator": "theta_midpoint", "theta": 0.5, "tolerance": 1e-9}


def cases(data: Path | None) -> Iterator[Case]:
    """Yield a bar that hangs between two ends; Fig. 9 of [EigenFit19]; a bar that spins in free flight."""
    yield Case("bar_released", lambda: _released("bar_released", _bar(), lambda x: x[:, 0] > 0.999))
    if has(data, "armadillo_fine"):
        name = "fig_9_armadillo_released"
        yield Case(name, lambda: _released(name, *_on_one_leg(data)))
    yield Case("free_spin", _spun)


def _bar(hold: bool = True) -> Pair:
    meshes = bars()
    held = [np.flatnonzero(mesh.rest_positions[:, 0] < 1e-9) if hold else np.zeros(0, dtype=int) for mesh in meshes]
    return pair_of(*(Specimen(mesh, 1.0, pins) for mesh, pins in zip(meshes, held, strict=True)))


def _on_one_leg(data: Path) -> tuple[Pair, Callable[[np.ndarray], np.ndarray]]:
    """Return the armadillo, which stands on both legs and then on one."""
    both = shared(data, "armadillo", energy="arap")
    X = both.fine.mesh.rest_positions
    axis = int(np.argsort(np.ptp(X[both.fine.pinned], axis=0))[-1])
    middle = 0.5 * (X[both.fine.pinned, axis].min() + X[both.fine.pinned, axis].max())
    legs = {model.unknowns: model.pinned for model in both}

    def on_one(model: Model) -> Model:
        return replace(model, pinned=model.pinned[model.mesh.rest_positions[model.pinned, axis] < middle])

    return both.of(on_one), lambda x: np.isin(np.arange(len(x)), legs[len(x)])


def _released(case: str, pair_: Pair, also_held: Callable[[np.ndarray], np.ndarray]) -> Iterable[Row]:
    """Simulate a body with further pins during the first push, which are then released while the push continues."""
    a = push(pair_.fine, 0.1)

    def move(way: Way) -> Course:
        model, X = way.model, way.model.mesh.rest_positions
        held, force = replace(model, pinned=np.union1d(model.pinned, np.flatnonzero(also_held(X)))), model.mass @ a(X)
        first = course(way._replace(model=held), PUSHED, force)
        return first.then(course(way, 1.0, force, start=first.states[-1]))

    yield from told(case, pair_, motions(pair_, move), 1 / 8)


def _spun() -> Iterable[Row]:
    """Spin at one revolution per second, bent for 0.3 s, with the implicit midpoint rule, which conserves momenta. The
    distance of the farthest point is relative to the amplitude of the vibration.
    """
    case, pair_ = "free_spin", _bar(False)

    a = push(pair_.fine, 0.1, lambda at: np.cos(2.0 * np.pi * at[:, :1]) * [0.0, 0.0, 1.0])

    def move(way: Way) -> Course:
        model, X = way.model, way.model.mesh.rest_positions
        spin = model.state_at(X, np.cross([0.0, 0.0, 2.0 * np.pi], X - [0.5, 0.125, 0.125]))
        return course(way, 1.0, model.mass @ a(X), spin, **CONSERVING)

    seen = motions(pair_, move)
    seen = seen._replace(amplitude=max(_strained(pair_.fine, state) for state in seen.fine.states))
    yield from told(case, pair_, seen, 1 / 8)
    lost = {name: _momenta(pair_.coarse, each) for name, each in seen.coarse.items()}
    for k, what in enumerate(("momentum", "angular momentum")):
        bar = max(2.0 * lost["plain"][k], 1e-9)
        for name, each in lost.items():
            yield row(case, f"{what} off by, {name}", each[k], at_most=bar if name == DEFAULT else None)
    times = STEP * np.arange(len(seen.fine.states))
    draw("eigenfit", case, [Plot("away", "t (s)", "m", [Curve(name, times, off) for name, off in seen.away.items()])])


def _strained(model: Model, state: State) -> float:
    """Return the largest vertex distance from the best-fit rigid motion of the body at rest, m."""
    m = np.asarray(model.mass.sum(axis=1))
    X, x = (each - (m * each).sum(axis=0) / m.sum() for each in (model.mesh.rest_positions, state.positions))
    U, _, Vt = np.linalg.svd((m * x).T @ X)
    R = U @ np.diag([1.0, 1.0, np.linalg.det(U @ Vt)]) @ Vt
    return float(np.linalg.norm(x - X @ R.T, axis=1).max())


def _momenta(model: Model, each: Course) -> tuple[float, float]:
    """Return the largest changes of momentum (relative to all mass at 1 m/s) and of angular momentum after the push,
    which has a torque, since it is fixed in the body while that bends.
    """
    free = each.states[round(PUSHED / STEP) :]
    p = np.array([(model.mass @ state.velocities).sum(axis=0) for state in free])
    L = np.array([angular_momentum(model, state) for state in free])
    return tuple(float(np.abs(q - q[0]).max() / size) for q, size in ((p, model.mass.sum()), (L, np.abs(L[0]).max())))
