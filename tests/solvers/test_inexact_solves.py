"""Conjugate gradients inside the solvers: the same minimiser, and no false convergence."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.core.foundation.schema.settings import SolverSettings
from sinew.core.methods.solvers import make_solver
from sinew.core.numerics.linear_solvers import conjugate_gradient, elastic_system

from .bodies import bar

H = 1 / 30


@pytest.fixture(scope="module")
def thrown():
    """A bar with a stiff middle, bent and moving, and where one exactly solved step takes it."""
    model = bar(1e9, 1e5)
    X = model.mesh.rest_positions
    bent = X + np.column_stack([0 * X[:, 0], 0.3 * X[:, 0] ** 2, 0 * X[:, 0]])
    state = model.state_at(bent, np.column_stack([0 * X[:, 0], 0 * X[:, 0], 3.0 * X[:, 0]]))
    settings = SolverSettings(tolerance=1e-12, linear_solver="cholmod")
    exact, report = make_solver(model, settings).step(state, bent[model.pinned], H)
    assert report.converged
    return model, state, exact.positions


def solve_systems_to(relative: float, monkeypatch) -> None:
    monkeypatch.setattr(elastic_system, "TOLERANCE", relative)
    monkeypatch.setattr(conjugate_gradient, "MOVEMENT", 100.0 * relative)


@pytest.mark.parametrize("relative", [1e-2, 1e-3])
@pytest.mark.parametrize("tolerance", [1e-3, 1e-6])
@pytest.mark.parametrize("solver", ["mixed_fem", "newton"])
def test_a_step_that_says_converged_is_near_the_minimiser(thrown, solver, relative, tolerance, monkeypatch):
    model, state, exact = thrown
    solve_systems_to(relative, monkeypatch)
    distances = {}
    for linear in ("cholmod", "pcg"):
        settings = SolverSettings(solver=solver, linear_solver=linear, tolerance=tolerance, max_iterations=400)
        end, report = make_solver(model, settings).step(state, state.positions[model.pinned], H)
        assert report.converged
        distances[linear] = np.linalg.norm(end.positions - exact, axis=1).max()
    # Newton's movements in stiff bodies are small far from the minimum, solved exactly or not.
    assert distances["pcg"] < 2 * max(tolerance * model.mesh.size, distances["cholmod"])


def test_inexact_solutions_cost_iterations_not_truth(thrown, monkeypatch):
    model, state, exact = thrown
    counts = []
    for relative in (0.3, 1e-4):
        solve_systems_to(relative, monkeypatch)
        settings = SolverSettings(linear_solver="pcg", tolerance=1e-8, max_iterations=400)
        end, report = make_solver(model, settings).step(state, state.positions[model.pinned], H)
        assert np.abs(end.positions - exact).max() < 1e-7 * model.mesh.size
        counts.append(report.iterations)
    assert counts[0] > counts[1]
