"""Swinging bodies stopped early ([MFEM22] Figs. 4, 6): remaining motion with 5 and 10 iterations per step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...core.methods.model.model import Model, build_model
from ...core.methods.model.state import State
from ..bodies import block, has, held_end, recorded
from ..measures import EARTH, STEP, energy, run, step
from ..pictures import Curve, Plot, Snapshot, draw
from ..registry import Case, Row, row

SECONDS = 2.0
STEPS = round(SECONDS / STEP)
TIMES = STEP * np.arange(STEPS + 1)
CONVERGED = 100
CAPS = (5, 10)
VARIANTS = {
    "Mixed FEM": ("mixed_fem", {}, "C1"),
    "Mixed FEM, plain": ("mixed_fem", {"quadratic_finish": False}, "C0"),
    "Newton": ("newton", {}, "C2"),
}
HOMOGENEOUS = (1e6, 1e8, 1e10)
SOFT, STIFF = 2e5, 1e10
TO_REST = (0.1, 1.0, 1e4, 1e4)
"""Lengths of the steps to the static state, s: in the last ones inertia is negligible."""


def cases(data: Path | None) -> Iterator[Case]:
    """Yield bars of three stiffnesses, a bar of two materials, and the gummy bear."""
    for E in HOMOGENEOUS:
        yield Case(f"swing_{E:.0e}", lambda E=E: _swing_bar(f"swing_{E:.0e}", E, E))
    yield Case("swing_mixed", lambda: _swing_bar("swing_mixed", SOFT, STIFF))
    if data is not None and has(data, "gummy_bear"):
        yield Case("swing_gummy", lambda: _swing_gummy(data))


def _swing_bar(case: str, soft: float, stiff: float) -> Iterable[Row]:
    model = _bar(soft, stiff)
    return _swing(case, model, model.rest_state(), tuple(VARIANTS))


def _swing_gummy(data: Path) -> Iterable[Row]:
    return _swing("swing_gummy", *recorded(data, "gummy_bear", 6e4, STIFF), ("Mixed FEM", "Newton"))


def _bar(soft: float, stiff: float) -> Model:
    """Return a bar of 1 x 0.2 x 0.2 m, held by one edge so that it can swing; its outer half stiff."""
    mesh = block((15, 3, 3), (1.0, 0.2, 0.2))
    centres = mesh.rest_positions[mesh.tets].mean(axis=1)
    E = np.where(centres[:, 0] > 0.5, stiff, soft)
    X = mesh.rest_positions
    hinge = np.intersect1d(held_end(mesh), np.flatnonzero(np.abs(X[:, 1] - 0.2) < 1e-9))
    return build_model(mesh, E, 0.45, 1e3, pinned=hinge)


def _swing(case: str, model: Model, start: State, variants: Sequence[str]) -> Iterable[Row]:
    static = energy(model, _static(model))
    exact, end = _motion(model, start, static, "mixed_fem", CONVERGED, tolerance=1e-9)
    curves = []
    ends = {"converged": end}
    yield row(case, "energy above the static state, start", exact[0], "J")
    yield row(case, "energy above it after 2 s, converged", exact[-1], "J")
    for cap in CAPS:
        for variant in variants:
            solver, settings, colour = VARIANTS[variant]
            values, ends[f"{variant}, {cap}"] = _motion(model, start, static, solver, cap, **settings)
            error = float(np.linalg.norm(values - exact) / np.linalg.norm(exact))
            bar = 0.1 if variant == "Mixed FEM" else None
            yield row(case, f"error of energy, {variant}, {cap}", error, "", at_most=bar)
            curves.append(Curve(f"{variant}, {cap}", TIMES, values, colour + ("--" if cap == CAPS[0] else "")))
    E = model.elastic.parameters[:, 0]
    shots = [
        Snapshot(f"{name}, 2 s", ends[name], model.mesh.tets, E, (0.2, -0.3, -1.0), (0.0, 1.0, 0.0))
        for name in ("converged", f"Newton, {CAPS[0]}")
    ]
    curves.append(Curve("converged", TIMES, exact, "k:"))
    draw("mixed-fem", case, [Plot("energy above the static state", "s", "J", curves), *shots])


def _motion(
    model: Model, start: State, static: float, solver: str, iterations: int, **settings: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Return energies above the static state over time, and the last positions."""

    def observed(state: State) -> tuple[float, np.ndarray]:
        return energy(model, state) - static, state.positions

    seen = run(model, start, solver, iterations, STEPS, observed, **settings)
    return np.array([value for value, _ in seen]), seen[-1][1]


def _static(model: Model) -> State:
    """Return the equilibrium of the body, by long steps without velocity."""
    state = model.rest_state()
    for time_step in TO_REST:
        state, _report = step(model, state, "mixed_fem", 1000, time_step, EARTH, tolerance=1e-12)
        state = model.state_at(state.positions)
    return state
