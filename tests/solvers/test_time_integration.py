"""Rules of time integration, damping, stop rules and loads: every solver obeys them alike."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.benchmarks.bodies import block
from sinew.core.errors import CorruptFrameError, SettingsError
from sinew.core.integrators import bdf2
from sinew.core.integrators.registry import INTEGRATORS
from sinew.core.integrators.time_step import History
from sinew.core.model.model import build_model
from sinew.core.model.settings import SolverSettings
from sinew.core.model.state import State
from sinew.core.simulation.diagnostics import diagnose
from sinew.core.solvers import make_solver

from .bodies import FULL_SPACE, bar

SOLVER = pytest.mark.parametrize("solver", FULL_SPACE)
INTEGRATOR = pytest.mark.parametrize("integrator", INTEGRATORS)
NO_PINS = np.empty((0, 3))


def settings(solver="mixed_fem", **changes):
    options = {"solver": solver, "max_iterations": 100, "tolerance": 1e-12, "gravity": (0.0, 0.0, 0.0)} | changes
    return SolverSettings(**options)


def small_block():
    """A soft, free block of 18 tets."""
    return build_model(block((3, 1, 1), (0.3, 0.1, 0.1)), 1e3, 0.3, 1000.0)


def swing(model, options, steps, duration=0.1):
    """The state after ``duration`` seconds of a body that is bent and spun."""
    X = model.mesh.rest_positions
    centred = X - X.mean(axis=0)
    velocities = np.cross([0.0, 0.0, 2.0], centred) + [0.0, 0.0, 1.0] * (20.0 * centred[:, :1] ** 2 - 0.2)
    state = model.state_at(X, velocities)
    solver = make_solver(model, options)
    for _ in range(steps):
        state, report = solver.step(state, X[model.pinned], duration / steps)
        assert report.converged or options.solver == "linearly_implicit", report.reason
    return state


@pytest.mark.parametrize(("integrator", "order"), [("backward_euler", 1), ("bdf2", 2)])
@pytest.mark.parametrize("solver", ["mixed_fem", "newton"])
def test_order_of_convergence(solver, integrator, order):
    """Errors against a much finer run fall by 2 to the order when steps are halved."""
    model = small_block()
    fine = swing(model, settings(solver, integrator="bdf2"), 160).positions
    errors = [
        np.abs(swing(model, settings(solver, integrator=integrator), steps).positions - fine).max()
        for steps in (20, 40)
    ]
    assert abs(np.log2(errors[0] / errors[1]) - order) < 0.25


def test_bdf2_is_exact_for_parabolas_of_unequal_steps():
    """x = t² is followed exactly, by any two steps, when the accelerations are given."""
    times = np.array([0.3, 0.5, 1.1])
    x, v = (times**2)[:, None, None] * np.ones((1, 2, 3)), (2 * times)[:, None, None] * np.ones((1, 2, 3))
    step = bdf2.begin(x[1], v[1], History(x[0], v[0], times[1] - times[0]), times[2] - times[1])
    new = step.predicted + step.step**2 * 2.0
    np.testing.assert_allclose(new, x[2], rtol=1e-13)
    np.testing.assert_allclose(step.velocities(new), v[2], rtol=1e-13)


@SOLVER
def test_history_belongs_to_the_state(solver):
    """A state put through its arrays goes on with the same bits; without its history it does not."""
    model = bar(pinned=False, stiff=1e6)
    options = settings(solver, integrator="bdf2")
    state = swing(model, options, 3)
    again = State.from_arrays(state.arrays())
    go_on = make_solver(model, options).step
    np.testing.assert_array_equal(go_on(again, NO_PINS, 0.01)[0].positions, go_on(state, NO_PINS, 0.01)[0].positions)
    forgotten = State(state.positions, state.velocities, state.stretch)
    assert not np.array_equal(go_on(forgotten, NO_PINS, 0.01)[0].positions, go_on(state, NO_PINS, 0.01)[0].positions)


def test_a_torn_history_is_refused():
    """A saved state that names a history without all of it is no state."""
    model = bar(pinned=False, stiff=1e6)
    arrays = swing(model, settings(integrator="bdf2"), 2).arrays()
    del arrays["previous_time_step"]
    with pytest.raises(CorruptFrameError):
        State.from_arrays(arrays)


def test_bdf2_loses_less():
    """A spinning body loses a tenth at most of the angular momentum with BDF2 that it loses with implicit Euler."""
    model = small_block()
    X = model.mesh.rest_positions - model.mesh.rest_positions.mean(axis=0)
    losses = {}
    for name in INTEGRATORS:
        start = state = model.state_at(X, np.cross([0.0, 0.0, 3.0], X))
        solver = make_solver(model, settings(integrator=name))
        for _ in range(30):
            state, _report = solver.step(state, NO_PINS, 1 / 60)
        before, after = (diagnose(model, s).angular_momentum[2] for s in (start, state))
        losses[name] = 1.0 - after / before
    assert 0.0 < losses["bdf2"] < 0.1 * losses["backward_euler"]


@SOLVER
def test_mass_damping_drags_a_rigid_flight(solver):
    """A body that flies without deformation slows by 1 / (1 + alpha h) a step."""
    model = bar(pinned=False, stiff=1e6)
    X = model.mesh.rest_positions
    state = model.state_at(X, np.tile([1.0, 2.0, -3.0], (len(X), 1)))
    new, _report = make_solver(model, settings(solver, mass_damping=5.0)).step(state, NO_PINS, 0.1)
    np.testing.assert_allclose(new.velocities, state.velocities / 1.5, rtol=1e-9)


@SOLVER
def test_stiffness_damping_calms_deformation_alone(solver):
    """Flight goes on as it was, with the same momentum; a swing ends sooner."""
    model = bar(pinned=False, stiff=1e6)
    X = model.mesh.rest_positions
    flying = model.state_at(X, np.tile([1.0, 2.0, -3.0], (len(X), 1)))
    damped = settings(solver, stiffness_damping=0.05)
    new, _report = make_solver(model, damped).step(flying, NO_PINS, 0.1)
    np.testing.assert_allclose(new.velocities, flying.velocities, rtol=1e-9)
    stretched = model.state_at(X * [1.1, 1.0, 1.0])
    calm, lively = (
        make_solver(model, options).step(stretched, NO_PINS, 0.005)[0] for options in (damped, settings(solver))
    )
    assert diagnose(model, calm).kinetic_energy < 0.2 * diagnose(model, lively).kinetic_energy
    assert np.linalg.norm(diagnose(model, calm).momentum) < 1e-9


@INTEGRATOR
def test_damped_minimisers_agree(integrator):
    """Mixed FEM and Newton find the same damped step."""
    model = bar(stiff=1e8, soft=1e5)
    options = {"stiffness_damping": 0.02, "mass_damping": 0.5, "integrator": integrator}
    ends = [swing(model, settings(solver, **options), 5) for solver in ("mixed_fem", "newton")]
    assert np.abs(ends[0].positions - ends[1].positions).max() <= 1e-8 * model.mesh.size


@pytest.mark.parametrize("solver", ["mixed_fem", "newton"])
@pytest.mark.parametrize(
    ("rule", "tolerances"),
    [
        ("movement", {"tolerance": 1e-4}),
        ("decrement", {"decrement_tolerance": 1e-4}),
        ("acceleration", {"acceleration_tolerance": 1.0}),
    ],
)
def test_stop_rules(solver, rule, tolerances):
    """A looser tolerance ends a step sooner; a tight one of the same rule brings the minimiser."""
    model = bar(stiff=1e7, soft=1e5)
    loose = settings(solver, stop_rule=rule, **tolerances)
    tight = settings(solver, stop_rule=rule, **{name: 1e-7 * value for name, value in tolerances.items()})
    exact = settings(solver, tolerance=0.0)
    x = model.mesh.rest_positions
    start = model.state_at(x * [1.2, 1.0, 1.0] + [0.0, 0.0, 0.0])
    pins = x[model.pinned]
    (_, few), (near, many), (end, _) = (
        make_solver(model, options).step(start, pins, 1 / 24) for options in (loose, tight, exact)
    )
    assert few.converged and many.converged
    assert few.iterations < many.iterations
    assert np.abs(near.positions - end.positions).max() <= 1e-6 * model.mesh.size


def test_an_unknown_rule_is_named():
    """Of stopping, and of time integration."""
    with pytest.raises(SettingsError, match="stop rule"):
        SolverSettings(stop_rule="never")
    with pytest.raises(SettingsError, match="integrator"):
        make_solver(bar(), SolverSettings(integrator="leapfrog"))


class Wind:
    """A load for the test: the same force on every vertex, and a spring that holds each where the step began."""

    def __init__(self, force, stiffness):
        self.force, self.stiffness, self.renewals = np.asarray(force), stiffness, 0

    def begin(self, motion):
        self.anchor = motion.start
        return self

    def value(self, x):
        return float(0.5 * self.stiffness * np.sum((x - self.anchor) ** 2) - np.sum(x @ self.force))

    def gradient(self, x):
        return self.stiffness * (x - self.anchor) - self.force

    def add_stiffness(self, x, scale, blocks):
        valence = np.zeros(len(x))
        np.add.at(valence, self.tets.ravel(), 1.0)
        for a, pair in enumerate((0, 2, 5, 9)):
            blocks[:, pair] += (scale * self.stiffness / valence[self.tets[:, a]])[:, None, None] * np.eye(3)

    def update(self, x):
        self.renewals += 1
        return self.renewals < 2


@pytest.mark.parametrize("solver", ["mixed_fem", "newton"])
def test_a_load_takes_part(solver):
    """At the step's end the gradient with the load is zero; a lagged load is renewed until it says that it is done."""
    model = bar(stiff=1e7, soft=1e5)
    wind = Wind([0.3, 0.1, 0.0], 50.0)
    wind.tets = model.mesh.tets
    X = model.mesh.rest_positions
    state = model.state_at(X)
    new, report = make_solver(model, settings(solver)).step(state, X[model.pinned], 0.02, (wind,))
    assert report.converged and 2 <= wind.renewals <= report.iterations + 1
    deformation = model.elastic.deformation(new.positions)
    residual = model.mass @ (new.positions - X) + 0.02**2 * (
        model.elastic.gradient(deformation) + wind.gradient(new.positions)
    )
    free = np.setdiff1d(np.arange(len(X)), model.pinned)
    assert np.abs(residual[free]).max() <= 1e-12
    assert np.abs(new.positions - X).max() > 1e-5
