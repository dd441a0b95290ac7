"""Implicit Euler and BDF2 ([MFEM22] Fig. 11): order of convergence, and dissipation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from ...core.methods.model.model import Model, build_model
from ...core.methods.model.state import State
from ..bodies import block
from ..measures import angular_momentum, energy, run
from ..pictures import Curve, Plot, Snapshot, draw
from ..registry import Case, Row, row

INTEGRATORS = {"backward_euler": 1.0, "bdf2": 2.0}
STYLES = {"backward_euler": "C0o-", "bdf2": "C1o-"}
NOWHERE = (0.0, 0.0, 0.0)
SECONDS = 0.2
HALVINGS = (40, 80, 160, 320, 640)
"""Steps in SECONDS. The finest resolve every mode of the soft bar, without which the order is not visible."""
SOFTEST, SOFT = 3e3, 1e5
"""Young's moduli for the orders and for the losses, Pa."""
SPIN = 2.0 * np.pi
FLIGHT_STEPS = (1 / 30, 1 / 60, 1 / 120, 1 / 240)


def cases(data: Path | None) -> Iterator[Case]:
    """Yield orders, and losses of a spinning, vibrating bar in free flight."""
    yield Case("order", _order)
    yield Case("losses", _losses)


def _bar(youngs_modulus: float) -> Model:
    return build_model(block((8, 2, 2), (0.4, 0.1, 0.1)), youngs_modulus, 0.3, 1e3)


def _launched(model: Model) -> State:
    """Return a state rotating about z through the centre once per second, and bending smoothly."""
    X = model.mesh.rest_positions
    d = X - X.mean(axis=0)
    velocities = np.cross([0.0, 0.0, SPIN], d)
    velocities[:, 2] += 0.5 * np.cos(np.pi * X[:, 0] / 0.4 * 2.0)
    return model.state_at(X, velocities)


def _end_of(model: Model, integrator: str, steps: int) -> np.ndarray:
    """Return the positions after SECONDS, every step converged."""
    start = _launched(model)
    return run(
        model,
        start,
        "mixed_fem",
        100,
        steps,
        lambda state: state.positions,
        SECONDS / steps,
        NOWHERE,
        tolerance=1e-11,
        integrator=integrator,
    )[-1]


def _order() -> Iterable[Row]:
    """Measure ``log2 |x_h - x_h/2| / |x_h/2 - x_h/4|`` for three successive halvings of the step."""
    model, curves = _bar(SOFTEST), []
    steps = SECONDS / np.array(HALVINGS)
    for integrator, expected in INTEGRATORS.items():
        ends = [_end_of(model, integrator, count) for count in HALVINGS]
        differences = np.array([np.linalg.norm(a - b, axis=1).max() for a, b in zip(ends, ends[1:])])
        orders = np.log2(differences[:-1] / differences[1:])
        for count, order in zip(HALVINGS, orders):
            yield row("order", f"{integrator}, from {count} steps", order)
        yield row("order", f"{integrator}, |order - {expected:g}|", abs(orders[-1] - expected), "", at_most=0.15)
        label = f"{integrator} (order {orders[-1]:.2f})"
        curves.append(Curve(label, steps[:-1], differences / model.mesh.size, STYLES[integrator]))
    title = "difference to the step halved, after 0.2 s"
    draw("mixed-fem", "order", [Plot(title, "step, s", "part of the size", curves, True, True)])


def _losses() -> Iterable[Row]:
    model, panels = _bar(SOFT), []
    lost: dict[str, dict[str, list[float]]] = {}
    for integrator in INTEGRATORS:
        energies, momenta = [], []
        for time_step in FLIGHT_STEPS:
            steps = round(1.0 / time_step)
            seen = run(
                model,
                _launched(model),
                "mixed_fem",
                100,
                steps,
                lambda state: (energy(model, state, NOWHERE), angular_momentum(model, state)[2], state.positions),
                time_step,
                NOWHERE,
                tolerance=1e-10,
                integrator=integrator,
            )
            energies.append(1.0 - seen[-1][0] / seen[0][0])
            momenta.append(1.0 - seen[-1][1] / seen[0][1])
            yield row("losses", f"energy, {integrator}, step 1/{steps}", energies[-1], "a second")
            yield row("losses", f"angular momentum, {integrator}, step 1/{steps}", momenta[-1], "a second")
        lost[integrator] = {"energy": energies, "angular momentum": momenta}
        for what, values in lost[integrator].items():
            falls = float(max(b / a for a, b in zip(values, values[1:])))
            yield row("losses", f"{what}, {integrator}: largest ratio of halvings", falls, "", at_most=0.9999)
        panels.append(Snapshot(f"{integrator}, 1 s", seen[-1][2], model.mesh.tets))
    for what in ("energy", "angular momentum"):
        curves = [Curve(name, FLIGHT_STEPS, lost[name][what], STYLES[name]) for name in INTEGRATORS]
        panels.insert(0, Plot(f"{what} lost in a second", "step, s", "part", curves, True, True))
    draw("mixed-fem", "losses", panels, columns=2)
