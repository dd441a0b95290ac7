"""Every solver with every energy, against what physics says of any of them."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.benchmarks.bodies import block
from sinew.core.foundation.errors import DivergenceError, SettingsError
from sinew.core.foundation.schema.settings import SolverSettings
from sinew.core.mechanics.energies import ENERGIES
from sinew.core.methods.model.model import build_model
from sinew.core.methods.model.state import State
from sinew.core.methods.solvers import make_solver
from sinew.core.methods.solvers.linearly_implicit import ROUGH

from .bodies import FULL_SPACE, bar
from .diagnostics import diagnose

G = np.array([0.0, 0.0, -9.81])
H = 1 / 60
SOLVER = pytest.mark.parametrize("solver", FULL_SPACE)
ENERGY = pytest.mark.parametrize("energy", ENERGIES)
INVARIANT = pytest.mark.parametrize("energy", [name for name, law in ENERGIES.items() if law.rotation_invariant])


def settings(solver, iterations=60, gravity=tuple(G), tolerance=1e-13):
    return SolverSettings(solver=solver, max_iterations=iterations, tolerance=tolerance, gravity=gravity)


def turned(points, angle=1.1, axis=(1.0, 2.0, 3.0), about=(0.2, 0.05, 0.05)):
    axis = np.asarray(axis) / np.linalg.norm(axis)
    K = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    R = np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K
    return (points - about) @ R.T + about + 0.3


@SOLVER
@ENERGY
def test_free_fall_changes_momentum_by_weight_times_time(solver, energy):
    """A deformed free body: momentum gains m g h a step to 1e-9; internal forces have no sum and no torque."""
    model = bar(energy=energy, pinned=False, stiff=1e7)
    x = model.mesh.rest_positions * [1.1, 0.95, 1.0]
    state = model.state_at(x, np.zeros_like(x))
    before = diagnose(model, state)
    for k in range(1, 4):
        state, report = make_solver(model, settings(solver, iterations=200)).step(state, np.empty((0, 3)), H)
        assert report.reason
        now = diagnose(model, state)
        gained = now.mass * np.linalg.norm(G) * H * k
        assert np.linalg.norm(now.momentum - before.momentum - now.mass * G * H * k) <= 1e-9 * gained
        size_of_forces = np.abs(model.elastic.gradient(model.elastic.deformation(state.positions))).sum()
        assert np.linalg.norm(now.internal_force) <= 1e-9 * size_of_forces
        if ENERGIES[energy].rotation_invariant:
            assert np.linalg.norm(now.internal_torque) <= 1e-9 * size_of_forces * model.mesh.size


@SOLVER
@INVARIANT
def test_rigid_motion_costs_nothing(solver, energy):
    """A turned and shifted body at rest, without gravity, stays where it is."""
    model = bar(energy=energy, pinned=False)
    state = model.state_at(turned(model.mesh.rest_positions))
    new, _report = make_solver(model, settings(solver, gravity=(0.0, 0.0, 0.0))).step(state, np.empty((0, 3)), H)
    assert np.abs(new.positions - state.positions).max() <= 1e-9 * model.mesh.size


@SOLVER
@ENERGY
def test_patch(solver, energy):
    """With the whole boundary held on an affine map, the inside comes to rest on it: constant strain in every tet."""
    mesh = block((3, 3, 3), (1.0, 1.0, 1.0))
    X = mesh.rest_positions
    inside = np.flatnonzero(((X > 1e-9) & (X < 1 - 1e-9)).all(axis=1))
    boundary = np.setdiff1d(np.arange(len(X)), inside)
    rng = np.random.default_rng(2)
    moved = X.copy()
    moved[inside] += 0.05 * rng.normal(size=(len(inside), 3))
    mesh = type(mesh)(moved, mesh.tets)
    model = build_model(mesh, 1e5, 0.3, 1000.0, energy, pinned=boundary)
    A = np.eye(3) + np.array([[0.05, 0.02, 0.0], [0.02, -0.03, 0.01], [0.0, 0.01, 0.02]])
    target = moved @ A.T
    stepper = make_solver(model, settings(solver, iterations=100, gravity=(0.0, 0.0, 0.0)))
    state = model.rest_state()
    for _ in range(8):
        # Steps of 1000 s: inertia is negligible and what is left is statics.
        state = State(state.positions, np.zeros_like(moved), state.stretch)
        state, _report = stepper.step(state, target[boundary], 1e3)
    np.testing.assert_allclose(state.positions, target, atol=1e-8)


@SOLVER
def test_same_input_gives_same_bits(solver):
    model = bar()
    results = []
    for _ in range(2):
        state = model.rest_state()
        for _ in range(3):
            state, _report = make_solver(model, settings(solver, iterations=5)).step(
                state, state.positions[model.pinned], H
            )
        results.append(state)
    for a, b in zip(results[0].arrays().values(), results[1].arrays().values(), strict=True):
        assert np.array_equal(a, b)


@SOLVER
def test_reports_tell_their_story(solver):
    model = bar()
    state, report = make_solver(model, settings(solver, iterations=3)).step(
        model.rest_state(), model.mesh.rest_positions[model.pinned], H
    )
    assert 1 <= report.iterations <= 3
    assert np.isfinite(report.gradient_norm)
    assert {"assembly", "factorization", "solve"} <= set(report.seconds)
    assert report.reason
    assert np.array_equal(state.positions[model.pinned], model.mesh.rest_positions[model.pinned])


@SOLVER
def test_reports_tell_what_is_missing(solver):
    """A step that was stopped early says by how much, one that converged by less than it was told to."""
    model = bar()
    targets = model.mesh.rest_positions[model.pinned] + [0.0, 0.0, 0.05]
    for iterations, tolerance in ((2, 1e-9), (60, 1e-6)):
        options = settings(solver, iterations=iterations, tolerance=tolerance)
        _state, report = make_solver(model, options).step(model.rest_state(), targets, H)
        assert report.force == pytest.approx(report.gradient_norm / H**2)
        if solver == "linearly_implicit":
            assert report.converged == (report.movement <= ROUGH * tolerance * model.mesh.size)
        else:
            assert report.converged == (report.movement <= tolerance * model.mesh.size)
            assert report.movement >= report.history[-1].movement
            assert report.converged == (iterations == 60)


@SOLVER
def test_a_pin_that_is_no_number_is_named(solver):
    model = bar()
    targets = model.mesh.rest_positions[model.pinned].copy()
    targets[2, 1] = np.nan
    with pytest.raises(DivergenceError, match=f"vertex {model.pinned[2]} "):
        make_solver(model, settings(solver)).step(model.rest_state(), targets, H)


def test_unknown_solver_is_named():
    with pytest.raises(SettingsError, match="magic.*mixed_fem"):
        make_solver(bar(), settings("magic"))
