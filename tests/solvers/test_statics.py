"""Statics: the equilibrium of each frame, the same in all solvers and as the rest of a damped motion."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from sinew.benchmarks.bodies import block, held_end
from sinew.core.foundation.schema.settings import SolverSettings
from sinew.core.methods.model.model import build_model
from sinew.core.methods.solvers.registry import make_solver, space_of

STEP = 1.0 / 24.0


def bar(E=1e6, stiff=None):
    mesh = block((16, 4, 4), (1.0, 0.25, 0.25))
    modulus = np.full(len(mesh.tets), E)
    if stiff:
        modulus[np.abs(mesh.rest_positions[mesh.tets].mean(axis=1)[:, 0] - 0.5) < 0.2] = stiff
    return build_model(mesh, modulus, 0.45, 1e3, pinned=held_end(mesh), smoothed=True)


def static(model, solver, targets=None, **settings):
    chosen = SolverSettings(
        solver=solver,
        integrator="statics",
        **{"max_iterations": 300, "tolerance": 1e-10, "modes": 8, "cubature_points": 100_000} | settings,
    )
    space = space_of(model, chosen)
    stepper, state = make_solver(space, chosen), space.rest_state()
    at = state.positions[space.pinned] if targets is None else targets
    state, report = stepper.step(state, at, STEP, [])
    assert report.converged
    return space.vertices(state.positions), state


@pytest.mark.parametrize("stiff", [None, 1e10], ids=["uniform", "contrast 1e4"])
def test_solvers_reach_one_equilibrium(stiff):
    """1e-8 of the size; gravity and elastic forces balance at every free vertex."""
    model = bar(stiff=stiff)
    mixed, state = static(model, "mixed_fem")
    newton, _ = static(model, "newton")
    assert np.abs(mixed - newton).max() <= 1e-8 * model.size
    assert mixed[:, 2].min() < model.mesh.rest_positions[:, 2].min() - 0.02
    assert np.abs(state.velocities).max() < 1e-4
    elastic = model.elastic
    force = elastic.gradient(elastic.deformation(mixed)) + elastic.stabilization.gradient(mixed)
    force[:, 2] += 9.81 * model.lumped_masses
    free = np.setdiff1d(np.arange(len(mixed)), model.pinned)
    assert np.abs(force[free]).max() <= 1e-6 * np.abs(force[model.pinned]).max()


def test_it_is_the_rest_of_a_damped_motion():
    model = bar()
    settings = SolverSettings(integrator="backward_euler", mass_damping=8.0, tolerance=1e-8, max_iterations=50)
    stepper, state = make_solver(model, settings), model.rest_state()
    for _ in range(150):
        state, _report = stepper.step(state, state.positions[model.pinned], 0.1, [])
    assert np.abs(state.positions - static(model, "mixed_fem")[0]).max() <= 1e-6 * model.size


def test_a_twist_by_half_a_turn_in_24_frames():
    """At 2 iterations a frame within 1e-3 of the size, at 5 within 2e-7."""
    model = bar()
    X = model.mesh.rest_positions
    ends = np.flatnonzero((X[:, 0] < 1e-9) | (X[:, 0] > 1.0 - 1e-9))
    model = replace(model, pinned=ends)
    right, middle, found = X[ends, 0] > 0.5, np.array([0.0, 0.125, 0.125]), {}
    for most in (2, 5, 100):
        settings = SolverSettings(
            integrator="statics", max_iterations=most, tolerance=1e-12 if most == 100 else 0.0, gravity=(0.0, 0.0, 0.0)
        )
        stepper, state = make_solver(model, settings), model.rest_state()
        for frame in range(1, 25):
            turn = Rotation.from_rotvec([np.pi * frame / 24.0, 0.0, 0.0]).as_matrix()
            targets = np.where(right[:, None], (X[ends] - middle) @ turn.T + middle, X[ends])
            state, _report = stepper.step(state, targets, STEP, [])
        found[most] = state.positions
    assert np.abs(found[2] - found[100]).max() <= 1e-3 * model.size
    assert np.abs(found[5] - found[100]).max() <= 2e-7 * model.size
