"""Cases in which steps used to stall, fly away or tangle."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.benchmarks.bodies import hard_starts
from sinew.core.foundation.errors import DivergenceError, SinewError
from sinew.core.foundation.schema.settings import SolverSettings
from sinew.core.mechanics.energies import ENERGIES
from sinew.core.methods.model.model import build_model
from sinew.core.methods.model.state import State
from sinew.core.methods.solvers import make_solver

from .bodies import FULL_SPACE, bar, block

ITERATIVE = pytest.mark.parametrize("solver", ["mixed_fem", "newton"])


@ITERATIVE
@pytest.mark.parametrize("pinned", [True, False])
def test_a_body_at_rest_is_done_at_once(solver, pinned):
    """Without any force the energy is round-off alone; that must not keep a step busy."""
    model = bar(pinned=pinned)
    settings = SolverSettings(solver=solver, gravity=(0.0, 0.0, 0.0))
    state, report = make_solver(model, settings).step(
        model.rest_state(), model.mesh.rest_positions[model.pinned], 1 / 24
    )
    assert report.converged
    assert report.iterations <= 2
    assert np.abs(state.positions - model.mesh.rest_positions).max() <= 1e-12


@ITERATIVE
def test_a_capped_step_says_so(solver):
    model = bar()
    settings = SolverSettings(solver=solver, max_iterations=1, tolerance=1e-12)
    _state, report = make_solver(model, settings).step(
        model.rest_state(), model.mesh.rest_positions[model.pinned], 1 / 24
    )
    assert not report.converged
    assert "cap" in report.reason


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
@pytest.mark.parametrize("gravity", [1e150, 1e300])
@ITERATIVE
def test_absurd_forces_are_named(solver, gravity):
    model = bar()
    settings = SolverSettings(solver=solver, gravity=(0.0, 0.0, -gravity))
    try:
        _state, report = make_solver(model, settings).step(
            model.rest_state(), model.mesh.rest_positions[model.pinned], 1 / 24
        )
    except DivergenceError as error:
        assert error.remedy
    else:
        assert not report.converged


def test_a_blown_up_step_is_named():
    """The linearly implicit solver has no line search: a violent state flies away, and must not do so silently."""
    model = bar(pinned=False)
    x = model.mesh.rest_positions * 1e4
    state = State(x, np.zeros_like(x), model.rest_state().stretch)
    with pytest.raises(SinewError, match="flew|not a number|not positive definite"):
        stepper = make_solver(model, SolverSettings(solver="linearly_implicit", damping_factor=0.25))
        for _ in range(20):
            state, _report = stepper.step(state, np.empty((0, 3)), 1 / 24)


@pytest.mark.parametrize("energy", ENERGIES)
@pytest.mark.parametrize("solver", FULL_SPACE)
def test_no_start_ends_in_silence(solver, energy):
    """From a point, a line, a plane, a mirror image, random places: finite positions, or a named error."""
    mesh = block((3, 1, 1), (0.3, 0.1, 0.1))
    model = build_model(mesh, 1e5, 0.45, 1000.0, energy)
    for name, x in hard_starts(mesh.rest_positions).items():
        state = model.state_at(x)
        stepper = make_solver(model, SolverSettings(solver=solver, max_iterations=10))
        try:
            for _ in range(3):
                state, report = stepper.step(state, np.empty((0, 3)), 1 / 24)
                assert report.reason, name
        except SinewError as error:
            assert error.remedy, name
        assert np.isfinite(state.positions).all(), name
        assert np.isfinite(state.stretch).all(), name


@pytest.mark.parametrize("start", ["point", "line", "plane"])
@pytest.mark.parametrize("energy", [name for name in ENERGIES if name not in ("stvk", "linear")])
def test_a_collapsed_bar_comes_back(energy, start):
    """To rest, every tet upright; what Green strain does is its own (see its docstring)."""
    mesh = block((3, 1, 1), (0.3, 0.1, 0.1))
    model = build_model(mesh, 1e5, 0.3, 1000.0, energy)
    state = model.state_at(hard_starts(mesh.rest_positions)[start])
    settings = SolverSettings(max_iterations=10, gravity=(0.0, 0.0, 0.0), mass_damping=3.0)
    stepper = make_solver(model, settings)
    for _ in range(60):
        state, _report = stepper.step(state, np.empty((0, 3)), 1 / 24)
    sigma = model.elastic.deformation(state.positions).sigma
    assert np.abs(sigma - 1.0).max() < 1e-2


def test_a_scrambled_bar_untangles():
    """[MFEM22] Fig. 9: from random positions to rest without an inverted tet (perhaps in a knot)."""
    model = bar(stiff=1e5, pinned=True)
    X = model.mesh.rest_positions
    x = X + 0.1 * np.random.default_rng(3).normal(size=X.shape)
    x[model.pinned] = X[model.pinned]
    state = model.state_at(x)
    assert (model.elastic.deformation(x).sigma.prod(axis=1) < 0).mean() > 0.2
    stepper = make_solver(model, SolverSettings(gravity=(0.0, 0.0, 0.0)))
    for _ in range(60):
        state, report = stepper.step(state, X[model.pinned], 1 / 24)
    assert report.converged
    assert model.elastic.deformation(state.positions).sigma.prod(axis=1).min() > 0.2
    assert np.abs(state.velocities).max() < 0.01


def test_a_tet_that_a_pin_holds_inside_out_lets_steps_settle():
    """A vertex inside a bar is pulled through its neighbours and stays there: within five iterations a step rests."""
    mesh = block((12, 4, 4), (0.6, 0.2, 0.2))
    X = mesh.rest_positions
    inside = int(np.argmin(np.linalg.norm(X - [0.3, 0.1, 0.1], axis=1)))
    model = build_model(mesh, 1e5, 0.45, 1000.0, pinned=np.append(np.flatnonzero(X[:, 0] < 1e-9), inside))
    stepper, state = make_solver(model, SolverSettings(max_iterations=5)), model.rest_state()
    for k in range(30):
        x = X.copy()
        x[inside, 0] += 0.22 * min(k / 20, 1.0)
        state, report = stepper.step(state, x[model.pinned], 1 / 24)
    inverted = np.linalg.det(model.elastic.deformation(state.positions).F) < 0.0
    assert 0 < inverted.sum() <= 0.01 * len(mesh.tets), inverted.sum()
    assert report.converged


def test_a_capped_tangle_says_so():
    """Five iterations leave a scrambled body to its guessed stretches, which is no solution."""
    model = bar(pinned=False)
    X = model.mesh.rest_positions
    state = model.state_at(np.random.default_rng(3).uniform(X.min(axis=0), X.max(axis=0), X.shape))
    _state, report = make_solver(model, SolverSettings(max_iterations=5)).step(state, np.empty((0, 3)), 1 / 24)
    assert not report.converged
    assert "inverted tets" in report.reason
