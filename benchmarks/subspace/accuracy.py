"""What a subspace keeps: convergence at any contrast (Fig. 9), rotations (Fig. 5), and enough points (Fig. 14)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from ...core.model.model import Model, build_model
from ...core.model.settings import SolverSettings
from ...core.simulation.prepare import ignore
from ...core.simulation.warm_up import warm_up
from ...core.solvers import make_solver
from ...core.subspaces.reduced_model import ReducedModel, skinning_subspace
from ...core.subspaces.softening import felt_share
from ..bodies import block, held_end
from ..measures import EARTH
from ..pictures import Curve, Plot, draw
from ..registry import Case, Row, row

CONTRASTS = (1e5, 1e7, 1e10)
MODES, POINTS = 16, 800
STEP = 1 / 60
SWING = 30
"""Steps of the run that the state is taken from."""

MOST = 30


def cases(data: Path | None) -> Iterator[Case]:
    """One case a figure."""
    yield Case("convergence", _convergence)
    yield Case("rotation", _rotation)
    yield Case("points", _points)


def _beam(stiff: float, pinned: bool = True) -> Model:
    mesh = block((24, 6, 6), (4.0, 1.0, 1.0))
    x = mesh.rest_positions[mesh.tets].mean(axis=1)[:, 0]
    E = np.where(np.abs(x - 2.0) < 1.0, stiff, 1e5)
    return build_model(mesh, E, 0.45, 1e3, pinned=held_end(mesh) if pinned else ())


def _decrements(space: ReducedModel, solver: str, finish: bool) -> np.ndarray:
    """Newton's decrement before each of 30 iterations of a step, from a state of the converged run, (30,), kg m²."""
    converged = make_solver(space, SolverSettings(solver="subspace_mixed_fem", max_iterations=100, gravity=EARTH))
    state = space.rest_state()
    for _ in range(SWING):
        state, _report = converged.step(state, state.positions[space.pinned], STEP)
    settings = SolverSettings(solver=solver, max_iterations=MOST, tolerance=0.0, gravity=EARTH, quadratic_finish=finish)
    stepper, decrements = make_solver(space, settings), np.full(MOST, np.nan)
    _end, report = stepper.step(state, state.positions[space.pinned], STEP)
    found = [each.decrement for each in report.history]
    decrements[: len(found)] = found
    return decrements


def _convergence() -> Iterable[Row]:
    warm_up(ignore)
    panels = []
    for stiff in CONTRASTS:
        space = skinning_subspace(_beam(stiff), MODES, POINTS).model
        runs = {
            "Mixed FEM, plain": _decrements(space, "subspace_mixed_fem", False),
            "Mixed FEM": _decrements(space, "subspace_mixed_fem", True),
            "FEM": _decrements(space, "subspace_fem", False),
        }
        for after in (3, 5, 10):
            ours, theirs = (np.sqrt(abs(runs[name][after])) for name in ("Mixed FEM", "FEM"))
            bar = 1e2 if stiff == 1e10 else None
            ratio = theirs / ours if np.isfinite(ours) and ours > 0.0 else np.inf
            yield row("convergence", f"{stiff:.0e} Pa, FEM / Mixed FEM after {after}", ratio, "", at_least=bar)
        curves = [Curve(name, np.arange(MOST), np.abs(values)) for name, values in runs.items()]
        panels.append(Plot(f"stiff part {stiff:.0e} Pa", "iteration", "decrement, kg m²", curves, log_y=True))
    draw("subspace", "convergence", panels)


def _rotation() -> Iterable[Row]:
    """The rest pose turned by 90 degrees: in the span, and without energy; linear modes are not so."""
    warm_up(ignore)
    model = _beam(1e10, pinned=False)
    space = skinning_subspace(model, 5, 100).model
    X = model.mesh.rest_positions
    turned = X @ np.array([[0.0, 1, 0], [-1, 0, 0], [0, 0, 1]])
    U = space.basis.T @ (model.mass @ (turned - X))
    away = np.abs(X + space.basis @ U - turned).max() / model.size
    yield row("rotation", "distance of the turned body from the span / size", away, "", at_most=1e-10)
    energy = space.elastic.value(space.elastic.deformation(U))
    stretched = space.elastic.value(space.elastic.deformation(space.basis.T @ (model.mass @ (0.01 * X))))
    yield row("rotation", "its energy / that of a stretch by 1 %", energy / stretched, "", at_most=1e-12)
    linear = model.mesh.rest_positions + _infinitesimal(X, turned)
    off = np.abs(linear - turned).max() / model.size
    yield row("rotation", "the same by translations and linear rotations", off)
    draw(
        "subspace",
        "rotation",
        [
            Plot(
                "turned by 90 degrees",
                "x",
                "y",
                [
                    Curve("skinning modes", *(X + space.basis @ U)[:, :2].T, "C1."),
                    Curve("linear modes", *linear[:, :2].T, "C7."),
                ],
            )
        ],
    )


def _infinitesimal(X: np.ndarray, turned: np.ndarray) -> np.ndarray:
    """The displacement's best fit by the six linear rigid modes, (n,3)."""
    modes = [np.tile(axis, (len(X), 1)) for axis in np.eye(3)] + [np.cross(axis, X) for axis in np.eye(3)]
    M = np.stack([mode.ravel() for mode in modes], axis=1)
    return (M @ np.linalg.lstsq(M, (turned - X).ravel(), rcond=None)[0]).reshape(X.shape)


def _points() -> Iterable[Row]:
    """Static deflection of a heavy beam, and the share of the energy that is felt, against the number of points."""
    warm_up(ignore)
    model = _beam(1e7)
    counts, tips, shares = (10, 25, 50, 100, 200, 500, 2000), [], []
    for count in counts:
        space = skinning_subspace(model, 5, count).model
        solver = make_solver(
            space, SolverSettings(solver="subspace_mixed_fem", max_iterations=200, gravity=EARTH, mass_damping=5.0)
        )
        state = space.rest_state()
        for _ in range(120):
            state, _report = solver.step(state, state.positions[space.pinned], 1 / 12)
        tips.append(float(np.linalg.norm(space.basis @ state.positions, axis=1).max()))
        shares.append(felt_share(model, space))
        yield row("points", f"deflection, {count} points", tips[-1], "m")
        yield row("points", f"energy felt, {count} points", shares[-1])
    yield row("points", "deflection at 100 points / at 2000", tips[3] / tips[-1])
    draw(
        "subspace",
        "points",
        [
            Plot("5 modes (Fig. 14)", "points", "deflection, m", [Curve("", counts, tips, "ko-")], log_x=True),
            Plot("least share of a movement's energy", "points", "", [Curve("", counts, shares, "ko-")], log_x=True),
        ],
    )
