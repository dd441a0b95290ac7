"""The linearly implicit solver says what its one solve leaves."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.benchmarks.bodies import block, held_end
from sinew.core.foundation.schema.settings import SolverSettings
from sinew.core.geometry.mesh.embedding import embed
from sinew.core.mechanics.forces.springs import Springs
from sinew.core.methods.model.merged_model import merge_models
from sinew.core.methods.model.model import build_model
from sinew.core.methods.solvers import make_solver
from sinew.core.methods.solvers.linearly_implicit import ROUGH
from sinew.core.numerics.integrators.registry import INTEGRATORS

from .test_contact_load import box, meeting

CALM = 1e-6
"""Sizes of the body."""


@pytest.mark.parametrize("is_loaded", [False, True])
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_what_is_left_is_the_distance_from_the_solution(is_loaded, integrator):
    """Bars drop under their weight, from flesh at 24 frames a second to stiff or finely stepped ones. The estimate is
    within a factor of six of the true distance above round-off; it decides convergence.
    """
    mesh = block((8, 2, 2), (0.4, 0.1, 0.1))
    both = set()
    for E, step in ((5e4, 1 / 24), (5e4, 1 / 960), (1e6, 1 / 24), (1e9, 1 / 24)):
        model = build_model(mesh, E, 0.4, 1000.0, pinned=held_end(mesh))
        end = embed(mesh.rest_positions[-1:], mesh)
        spring = Springs(model.points(end), np.array([20.0]), mesh.rest_positions[-1:] + [0.0, 0.0, 0.1])
        loads = (spring,) if is_loaded else ()
        settings = SolverSettings(solver="linearly_implicit", integrator=integrator)
        exact = SolverSettings(solver="newton", integrator=integrator, max_iterations=100, tolerance=1e-10)
        stepper, solution, state = make_solver(model, settings), make_solver(model, exact), model.rest_state()
        for _ in range(8):
            truth, _report = solution.step(state, state.positions[model.pinned], step, loads)
            state, report = stepper.step(state, state.positions[model.pinned], step, loads)
            off = np.linalg.norm(state.positions - truth.positions, axis=1).max()
            assert off / 6.0 - CALM * model.size <= report.movement <= 6.0 * off + CALM * model.size
            assert report.converged == (report.movement <= ROUGH * settings.tolerance * model.size), report.reason
            both.add(report.converged)
    assert both == {False, True}


def test_springs_cost_no_further_solve(monkeypatch):
    """One factor and one solve a step, whatever its springs and damping."""
    mesh = block((8, 2, 2), (0.4, 0.1, 0.1))
    model = build_model(mesh, 1e6, 0.4, 1000.0, pinned=held_end(mesh))
    points, state = model.points(embed(mesh.rest_positions[-1:], mesh)), model.rest_state()
    targets = mesh.rest_positions[-1:] + [0.0, 0.0, 0.1]
    stepper, made = make_solver(model, SolverSettings(solver="linearly_implicit", mass_damping=0.5)), []
    factorize = stepper.system.try_factorize
    monkeypatch.setattr(stepper.system, "try_factorize", lambda: made.append(1) or factorize())
    for stiffness in (20.0, 20.0, 2000.0, 20.0):
        made.clear()
        spring = Springs(points, np.array([stiffness]), targets)
        state, report = stepper.step(state, state.positions[model.pinned], 1 / 240, (spring,))
        assert (len(made), report.iterations) == (1, 1)


def test_what_is_left_is_told_where_bodies_meet():
    """Pins press a box: 6 mm in a step pass as linear, 60 mm are reported."""
    for pressed, is_near in ((0.006, True), (0.06, False)):
        ends = []
        for solver in ("newton", "linearly_implicit"):
            model = merge_models([box(pinned=lambda X: X[:, 0] < 1e-9), box((0.102, 0.0, 0.0))])
            pins = model.mesh.rest_positions[model.pinned] + [pressed, 0.0, 0.0]
            meet, stepper = meeting(model), make_solver(model, SolverSettings(solver=solver, max_iterations=200))
            state, report = stepper.step(model.rest_state(), pins, 0.01, (meet,))
            ends.append(state.positions)
        off = np.linalg.norm(ends[1] - ends[0], axis=1).max()
        assert off / 6.0 <= report.movement <= 6.0 * off and report.converged == is_near
        assert is_near == (report.movement <= 0.01 * model.size), report.reason
