"""Mixed FEM against Newton FEM: the same minimiser, and motion that survives an early stop."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.benchmarks.bodies import block
from sinew.benchmarks.measures import StepProblem
from sinew.core.foundation.schema.settings import SolverSettings
from sinew.core.geometry.mesh.tet_mesh import TetMesh
from sinew.core.mechanics.energies import ENERGIES
from sinew.core.methods.model.model import build_model
from sinew.core.methods.solvers import make_solver

from .bodies import bar


def one_step(model, state, solver, gravity, h, iterations=400):
    settings = SolverSettings(solver=solver, max_iterations=iterations, tolerance=1e-14, gravity=gravity)
    return make_solver(model, settings).step(state, state.positions[model.pinned], h)


def assert_same_minimiser(model, state, gravity, h):
    mixed, report = one_step(model, state, "mixed_fem", gravity, h)
    newton, _ = one_step(model, state, "newton", gravity, h)
    assert np.abs(mixed.positions - newton.positions).max() <= 1e-8 * model.mesh.size, report.reason


@pytest.mark.parametrize("energy", [name for name, law in ENERGIES.items() if law.rotation_invariant])
def test_minimisers_agree_on_a_heterogeneous_bar(energy):
    model = bar(energy=energy)
    X = model.mesh.rest_positions
    bent = X + np.column_stack([np.zeros(len(X)), np.zeros(len(X)), 0.8 * X[:, 0] ** 2])
    bent[model.pinned] = X[model.pinned]
    assert_same_minimiser(model, model.state_at(bent), (0.0, 0.0, -9.81), 1 / 30)


def test_minimisers_agree_on_the_bunny(body):
    data = body("coarse_bunny")
    model = build_model(TetMesh(data["vertices"], data["tets"]), 3e4, 0.45, 1000.0, pinned=data["pinned"])
    for state in ("0002", "0027", "0031"):
        start = model.state_at(data[f"deformed_positions_{state}"], data[f"deformed_velocities_{state}"])
        assert_same_minimiser(model, start, (0.0, -9.8, 0.0), 1 / 30)


def test_gradient_after_five_iterations_at_high_contrast(body):
    """[MFEM22] Fig. 8: the gummy bear with a part of 1e10 Pa; Newton still wanders where Mixed FEM has arrived."""
    data = body("gummy_bear")
    E = np.where(data["material_ids"] == 1, 1e10, 6e4)
    model = build_model(TetMesh(data["vertices"], data["tets"]), E, 0.45, 1000.0, pinned=data["pinned"])
    state = model.state_at(data["deformed_positions"], data["deformed_velocities"])
    mixed, newton = (
        one_step(model, state, s, (0.0, -9.8, 0.0), 1 / 30, iterations=5)[1] for s in ("mixed_fem", "newton")
    )
    assert mixed.gradient_norm <= 1e-3 * newton.gradient_norm


def test_energy_survives_an_early_stop():
    """A swinging bar, stiff in the middle, five iterations a step: at most 10 % of the energy's course is lost."""
    model = bar(stiff=1e9, soft=2e5)
    pins = model.mesh.rest_positions[model.pinned]
    courses = {}
    for name, solver, iterations in (("converged", "newton", 200), ("mixed", "mixed_fem", 5)):
        settings = SolverSettings(solver=solver, max_iterations=iterations, tolerance=1e-10)
        stepper = make_solver(model, settings)
        state, course = model.rest_state(), []
        for _ in range(20):
            state, _report = stepper.step(state, pins, 1 / 60)
            course.append(float(np.sum(state.velocities * (model.mass @ state.velocities)) / 2))
        courses[name] = np.array(course)
    error = np.linalg.norm(courses["mixed"] - courses["converged"]) / np.linalg.norm(courses["converged"])
    assert error <= 0.10


def test_a_pendulum_comes_to_rest_in_very_long_steps():
    """Held by an edge, without inertia, only the tension of what hangs keeps it from turning."""
    mesh = block((10, 2, 2), (1.0, 0.2, 0.2))
    X, E = mesh.rest_positions, np.where(mesh.rest_positions[mesh.tets].mean(axis=1)[:, 0] > 0.5, 1e10, 2e5)
    hinge = np.flatnonzero((X[:, 0] < 1e-9) & (X[:, 1] > 0.2 - 1e-9))
    model = build_model(mesh, E, 0.45, 1e3, pinned=hinge)
    state = model.rest_state()
    for time_step in (0.1, 1.0, 1e4, 1e4):
        settings = SolverSettings(max_iterations=1000, tolerance=1e-12, gravity=(0.0, -9.8, 0.0))
        state, report = make_solver(model, settings).step(state, state.positions[hinge], time_step)
        state = model.state_at(state.positions)
    assert report.converged
    centre = model.lumped_masses @ state.positions / model.lumped_masses.sum()
    assert abs(centre[0]) < 1e-3 and centre[1] < -0.3


@pytest.mark.parametrize("speed", [1.5, 3.0])
@pytest.mark.parametrize("contrast", [1.0, 1e3, 1e6, 1e10])
def test_a_twisted_body_thrown_by_chance_takes_few_iterations_at_any_contrast(contrast, speed):
    """Inertia would turn hundreds of tets inside out; the potential is no higher than what Newton finds."""
    mesh = block((12, 3, 3), (1.8, 0.4, 0.4))
    X = mesh.rest_positions
    ends = np.flatnonzero((X[:, 0] < 1e-9) | (X[:, 0] > 1.8 - 1e-9))
    stiff = np.abs(X[mesh.tets].mean(axis=1)[:, 0] - 0.9) < 0.27
    model = build_model(mesh, np.where(stiff, 1e5 * contrast, 1e5), 0.45, 1e3, pinned=ends)
    angle = 0.6 * (X[:, 0] / 0.9 - 1.0)
    (y, z), c, s = (X[:, 1:] - 0.2).T, np.cos(angle), np.sin(angle)
    velocities = speed * np.random.default_rng(0).normal(size=X.shape)
    velocities[ends] = 0.0
    state = model.state_at(np.column_stack([X[:, 0], 0.2 + c * y - s * z, 0.2 + s * y + c * z]), velocities)
    problem = StepProblem(model, state)
    assert (model.elastic.deformation(problem.predicted).sigma[:, 2] <= 0.0).sum() > 50
    mixed, report = problem.step("mixed_fem", 15, tolerance=1e-5)
    assert report.converged
    newton, _report = problem.step("newton", 60, tolerance=1e-5)
    assert problem.value(mixed.positions) <= problem.value(newton.positions) * (1.0 + 1e-6)
