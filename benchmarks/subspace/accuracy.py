"""Accuracy of a subspace: convergence at any contrast (Fig. 9), rotations (Fig. 5), and number of points (Fig. 14)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import eigsh

from ...core.foundation.events import ignore
from ...core.foundation.schema.settings import SolverSettings
from ...core.methods.model.model import Model, build_model
from ...core.methods.solvers import make_solver
from ...core.methods.subspaces.cubature_check import cubature_energy_fraction
from ...core.methods.subspaces.reduced_model import ReducedModel, skinning_subspace
from ...core.simulation.frame_loop.compile_kernels import warm_up
from ..bodies import block, held_end
from ..measures import EARTH, STEP
from ..pictures import Curve, Plot, Snapshot, draw
from ..registry import Case, Row, row
from .materials import rested

CONTRASTS = (1e5, 1e7, 1e10)
MODES, POINTS = 16, 800
SWING = 15
"""Steps of the run that produces the state: half a second, the beam's end falls at 7 m/s."""

MOST = 30


def cases(data: Path | None) -> Iterator[Case]:
    """Yield one case per figure."""
    yield Case("convergence", _convergence)
    yield Case("rotation", _rotation)
    yield Case("points", _points)


def _beam(stiff: float, pinned: bool = True, energy: str = "stable_neo_hookean") -> Model:
    mesh = block((24, 6, 6), (4.0, 1.0, 1.0))
    x = mesh.rest_positions[mesh.tets].mean(axis=1)[:, 0]
    E = np.where(np.abs(x - 2.0) < 1.0, stiff, 1e5)
    return build_model(mesh, E, 0.45, 1e3, energy, pinned=held_end(mesh) if pinned else ())


def _decrements(space: ReducedModel, solver: str, finish: bool) -> np.ndarray:
    """Return Newton's decrement ``sqrt(g . H^-1 g)`` before each of 30 iterations of a step from a state of the
    converged run, (30,), kg^½ m; the previous one if an iteration found no descent.
    """
    converged = make_solver(space, SolverSettings(solver="subspace_mixed_fem", max_iterations=100, gravity=EARTH))
    state = space.rest_state()
    for _ in range(SWING):
        state, _report = converged.step(state, state.positions[space.pinned], STEP)
    settings = SolverSettings(solver=solver, max_iterations=MOST, tolerance=0.0, gravity=EARTH, quadratic_finish=finish)
    stepper, decrements = make_solver(space, settings), np.empty(MOST)
    _end, report = stepper.step(state, state.positions[space.pinned], STEP)
    found = [each.decrement for each in report.history]
    decrements[: len(found)] = np.sqrt(np.abs(found))
    decrements[len(found) :] = decrements[len(found) - 1]
    return decrements


def _convergence() -> Iterable[Row]:
    warm_up(ignore)
    panels = []
    for stiff in CONTRASTS:
        space = skinning_subspace(_beam(stiff, energy="fixed_corotated"), MODES, POINTS).model
        runs = {
            "Mixed FEM, plain": _decrements(space, "subspace_mixed_fem", False),
            "Mixed FEM": _decrements(space, "subspace_mixed_fem", True),
            "FEM": _decrements(space, "subspace_fem", False),
        }
        for after in (3, 5, 10):
            for name in ("Mixed FEM", "Mixed FEM, plain"):
                ratio = runs["FEM"][after] / runs[name][after]
                bar = 1e2 if stiff == 1e10 and name == "Mixed FEM" else None
                yield row("convergence", f"{stiff:.0e} Pa, FEM / {name} after {after}", ratio, "", at_least=bar)
        yield row("convergence", f"{stiff:.0e} Pa, round-off of it", np.min(runs["Mixed FEM"]), "kg^½ m")
        curves = [Curve(name, np.arange(MOST), values) for name, values in runs.items()]
        panels.append(Plot(f"stiff part {stiff:.0e} Pa", "iteration", "Newton decrement", curves, log_y=True))
    draw("subspace", "convergence", panels)


def _rotation() -> Iterable[Row]:
    """Check the rest pose rotated by 90 degrees: in the span, with zero energy; not so with linear modes."""
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
    modes = _linear_modes(model, 3 * space.unknowns)
    linear = X + (modes @ (modes.T @ (sp.kron(model.mass, sp.identity(3)) @ (turned - X).ravel()))).reshape(X.shape)
    off = np.abs(linear - turned).max() / model.size
    yield row("rotation", "the same by as many linear modes", off)
    at = X, X + space.basis @ U, linear
    titles = "at rest", "turned in the span of skinning modes", "the nearest in the span of linear modes"
    shots = [Snapshot(t, x, model.mesh.tets, model.elastic.parameters[:, 0]) for t, x in zip(titles, at, strict=True)]
    draw("subspace", "rotation", shots)


def _linear_modes(model: Model, count: int) -> np.ndarray:
    """Return the lowest eigenvectors of the stiffness at rest, rigid ones included, mass-orthonormal, (3n,count)."""
    tets, n = model.mesh.tets, len(model.mesh.rest_positions)
    blocks = model.stiffness(model.elastic.tangent(model.elastic.deformation(model.mesh.rest_positions)), 0.0)
    whole = sp.csc_matrix((3 * n, 3 * n))
    axes = np.arange(3)
    for a in range(4):
        for b in range(a + 1):
            rows = np.broadcast_to(3 * tets[:, a, None, None] + axes[:, None], (len(tets), 3, 3)).ravel()
            columns = np.broadcast_to(3 * tets[:, b, None, None] + axes, (len(tets), 3, 3)).ravel()
            part = sp.csc_matrix((blocks[:, a * (a + 1) // 2 + b].ravel(), (rows, columns)), shape=whole.shape)
            whole += part if a == b else part + part.T
    mass = sp.kron(model.mass, sp.identity(3)).tocsc()
    shift = -1e-6 * whole.diagonal().sum() / mass.diagonal().sum()
    start = np.random.default_rng(0).standard_normal(3 * n)
    return eigsh(whole, count, mass, sigma=shift, v0=start)[1]


def _points() -> Iterable[Row]:
    """Yield the static deflection of a heavy beam of 48,000 tets with a stiff middle over the number of cubature
    points, compared with the full space; and the energy fraction of the points.
    """
    warm_up(ignore)
    mesh = block((50, 10, 16), (5.0, 1.0, 1.6))
    x = mesh.rest_positions[mesh.tets].mean(axis=1)[:, 0]
    E = np.where(np.abs(x - 2.5) < 1.25, 1e9, 1e6)
    model = build_model(mesh, E, 0.45, 1e3, "fixed_corotated", pinned=held_end(mesh))
    full = rested(model, model, "mixed_fem")
    deepest = np.abs(full - mesh.rest_positions).max()
    yield row("points", "deflection, full space", deepest, "m")
    counts, tips, shares, shots = (25, 50, 100, 200, 500, 2000), [], [], [_from_side("full space", full, model)]
    for count in counts:
        space = skinning_subspace(model, 5, count).model
        end = rested(model, space, "subspace_mixed_fem")
        tips.append(float(np.abs(end - mesh.rest_positions).max()))
        shares.append(cubature_energy_fraction(model, space))
        yield row("points", f"deflection, {count} points", tips[-1], "m")
        yield row("points", f"energy felt, {count} points", shares[-1])
        if count in (25, 100, 2000):
            shots.append(_from_side(f"{count} points", end, model))
    yield row("points", "deflection at 25 points / at 2000", tips[0] / tips[-1], "", at_least=1.0)
    yield row("points", "deflection at 20 points a mode / at 2000", tips[2] / tips[-1])
    deflections = [Curve("5 modes", counts, tips, "ko-"), Curve("full space", counts[::5], [deepest] * 2, "k:")]
    felt = Plot("least share of a movement's energy", "points", "", [Curve("", counts, shares, "ko-")], log_x=True)
    draw("subspace", "points", [Plot("Fig. 14", "points", "deflection, m", deflections, log_x=True), felt, *shots])


def _from_side(title: str, x: np.ndarray, model: Model) -> Snapshot:
    return Snapshot(title, x, model.mesh.tets, model.elastic.parameters[:, 0], (0.2, -0.3, -1.0), (0.0, 1.0, 0.0))
