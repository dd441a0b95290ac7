"""Rules of time integration, damping, stop rules and loads: every solver obeys them alike."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from sinew.benchmarks.bodies import block, held_end
from sinew.core.foundation.errors import CorruptFrameError, SettingsError
from sinew.core.foundation.schema.settings import SolverSettings
from sinew.core.methods.model.model import build_model
from sinew.core.methods.model.state import State
from sinew.core.methods.solvers import make_solver, theta_extrapolation
from sinew.core.numerics.integrators import bdf2
from sinew.core.numerics.integrators.registry import INTEGRATORS
from sinew.core.numerics.integrators.time_step import History
from sinew.core.numerics.optimization.step_report import REDONE_BY

from .bodies import FULL_SPACE, bar
from .diagnostics import diagnose

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


@pytest.mark.parametrize(("integrator", "order"), [("backward_euler", 1), ("bdf2", 2), ("theta_midpoint", 2)])
@pytest.mark.parametrize("solver", ["mixed_fem", "newton"])
def test_order_of_convergence(solver, integrator, order):
    """Errors against a much finer run fall by 2 to the order when steps are halved."""
    model = small_block()
    fine = swing(model, settings(solver, integrator="bdf2"), 320).positions
    errors = [
        np.abs(swing(model, settings(solver, integrator=integrator, theta=0.5), steps).positions - fine).max()
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


def test_rules_of_second_order_lose_less():
    """A spinning body loses a tenth at most of the angular momentum with BDF2 that it loses with implicit Euler, with
    the theta-midpoint rule by default a tenth, too, and at theta 0.5 nothing.
    """
    model = small_block()
    X = model.mesh.rest_positions - model.mesh.rest_positions.mean(axis=0)
    losses = {}
    rules = {name: {"integrator": name} for name in INTEGRATORS}
    for name, rule in (rules | {"midpoint": {"integrator": "theta_midpoint", "theta": 0.5}}).items():
        start = state = model.state_at(X, np.cross([0.0, 0.0, 3.0], X))
        solver = make_solver(model, settings(**rule))
        for _ in range(30):
            state, _report = solver.step(state, NO_PINS, 1 / 60)
        before, after = (diagnose(model, s).angular_momentum[2] for s in (start, state))
        losses[name] = 1.0 - after / before
    assert 0.0 < losses["bdf2"] < 0.1 * losses["backward_euler"]
    assert 0.0 < losses["theta_midpoint"] < 0.1 * losses["backward_euler"]
    assert abs(losses["midpoint"]) < 1e-10


@INTEGRATOR
@SOLVER
def test_momentum_gains_the_weight_times_the_time(solver, integrator):
    """Whatever a free body does besides; at theta 0.5 its centre follows the parabola."""
    model = small_block()
    X = model.mesh.rest_positions
    state = model.state_at(X * [1.1, 0.95, 1.0], np.cross([0.0, 0.0, 2.0], X))
    gravity = np.array([1.0, -2.0, -9.0])
    stepper = make_solver(model, settings(solver, integrator=integrator, theta=0.5, gravity=tuple(gravity)))
    before, mass = diagnose(model, state).momentum, model.masses.sum()
    start = model.lumped_masses @ state.positions
    for _ in range(10):
        state, _report = stepper.step(state, NO_PINS, 0.02)
    np.testing.assert_allclose(diagnose(model, state).momentum, before + 0.2 * mass * gravity, rtol=1e-9)
    if integrator == "theta_midpoint":
        parabola = start + 0.2 * before + 0.5 * 0.2**2 * mass * gravity
        np.testing.assert_allclose(model.lumped_masses @ state.positions, parabola, rtol=1e-9)


@pytest.mark.parametrize("theta", [0.5, 0.526, 0.8, 1.0])
@pytest.mark.parametrize("phase", [0.01, 0.5, 20.0, 1e4])
def test_a_vibration_is_multiplied_by_its_number(theta, phase):
    """By ``(1 + i (1 - theta) w) / (1 - i theta w)`` in each step, for w = h omega."""
    mesh = block((3, 1, 1), (0.3, 0.1, 0.1))
    model = build_model(mesh, 1e3, 0.3, 1000.0, "linear")
    X = mesh.rest_positions
    tangent = model.elastic.tangent(model.elastic.deformation(X))
    moves = np.eye(X.size).reshape(-1, *X.shape)
    K = np.array([model.elastic.nodal_forces(tangent.stress_change(model.elastic.delta_F(u))).ravel() for u in moves])
    squares, modes = scipy.linalg.eigh(K, np.kron(model.mass.toarray(), np.eye(3)))
    omega, mode = np.sqrt(squares[8]), 1e-3 * modes[:, 8].reshape(X.shape)
    state, h = model.state_at(X + mode), phase / omega
    stepper = make_solver(model, settings("newton", integrator="theta_midpoint", theta=theta))
    for _ in range(3):
        state, _report = stepper.step(state, NO_PINS, h)
    share = np.sum(mode * (model.mass @ mode))
    q, rate = (np.sum(mode * (model.mass @ each)) / share for each in (state.positions - X, state.velocities))
    r = (1.0 + 1j * (1.0 - theta) * phase) / (1.0 - 1j * theta * phase)
    assert abs(q - 1j * rate / omega - r**3) < 1e-7


def swung_by_one_iteration(youngs_modulus):
    """The largest energy of a swinging bar in steps of one iteration, in parts of the first, and what was said."""
    mesh = block((10, 2, 2), (1.0, 0.2, 0.2))
    model = build_model(mesh, youngs_modulus, 0.3, 1000.0, pinned=held_end(mesh))
    X = mesh.rest_positions
    state = model.state_at(X, 4.0 * X[:, :1] ** 2 * [0.0, 1.0, 0.0])
    stepper = make_solver(model, settings(max_iterations=1, tolerance=1e-5, integrator="theta_midpoint"))
    energies, reports = [], []
    for _ in range(48):
        seen = diagnose(model, state)
        energies.append(seen.kinetic_energy + seen.elastic_energy)
        state, report = stepper.step(state, X[model.pinned], 1 / 48)
        reports.append(report)
    return max(energies) / energies[0], reports


@pytest.mark.parametrize("youngs_modulus", [1e5, 1e6])
def test_steps_that_do_not_converge_do_not_explode(youngs_modulus, monkeypatch):
    """They would, were they extrapolated. Reports name the replacing rule and count all iterations."""
    most, reports = swung_by_one_iteration(youngs_modulus)
    assert most < 1.01
    redone = [REDONE_BY in report.reason for report in reports]
    assert 5 < sum(redone) < len(reports) and [report.iterations - 1 for report in reports] == redone
    monkeypatch.setattr(theta_extrapolation, "WORK_OF_NOTHING", np.inf)
    assert swung_by_one_iteration(youngs_modulus)[0] > 5.0


@SOLVER
def test_pins_are_at_their_targets_with_every_rule(solver):
    """At the end of each step, however they move."""
    model, ends = bar(stiff=1e6), np.random.default_rng(3).normal(scale=0.01, size=(5, 3))
    for integrator in INTEGRATORS:
        state, stepper = model.rest_state(), make_solver(model, settings(solver, integrator=integrator))
        for shift in ends:
            targets = model.mesh.rest_positions[model.pinned] + shift
            state, _report = stepper.step(state, targets, 0.02)
            np.testing.assert_array_equal(state.positions[model.pinned], targets)


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
    """Errors of the stop rule, and of time integration."""
    with pytest.raises(SettingsError, match="stop rule"):
        SolverSettings(stop_rule="never")
    with pytest.raises(SettingsError, match="integrator"):
        make_solver(bar(), SolverSettings(integrator="leapfrog"))


class Wind:
    """A load for the test: the same force on every vertex, and a spring that holds each where the step began."""

    def __init__(self, force, stiffness):
        self.force, self.stiffness, self.renewals = np.asarray(force), stiffness, 0

    def begin(self, motion):
        self.anchor = motion.x_prev
        return self

    def value(self, x):
        return float(0.5 * self.stiffness * np.sum((x - self.anchor) ** 2) - np.sum(x @ self.force))

    def gradient(self, x):
        return self.stiffness * (x - self.anchor) - self.force

    def add_stiffness(self, x, scale, blocks):
        valence = np.zeros(len(x))
        np.add.at(valence, self.tets.ravel(), 1.0)
        for a, pair in enumerate((0, 2, 5, 9)):
            blocks[pair::10] += (scale * self.stiffness / valence[self.tets[:, a]])[:, None, None] * np.eye(3)

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


def thrown_with_bone(solver, bone, theta, rule="theta_midpoint", frames=200):
    """Most energy, of the first, and most stretch of bone in a spinning, bending bar at 24 steps a second."""
    mesh = block((5, 2, 1), (0.5, 0.2, 0.1))
    X, stiff = mesh.rest_positions, mesh.rest_positions[mesh.tets].mean(axis=1)[:, 0] > 0.25
    model = build_model(mesh, np.where(stiff, bone, 5e4), 0.3, 1000.0)
    state = model.state_at(X, np.cross([0.0, 2.0, 5.0], X - X.mean(axis=0)) + np.sin(6.0 * X[:, :1]) * [0.0, 0.0, 1.0])
    stepper, energies, stretched = (
        make_solver(model, settings(solver, integrator=rule, theta=theta, tolerance=1e-4)),
        [],
        0.0,
    )
    for _ in range(frames):
        seen = diagnose(model, state)
        energies.append(seen.kinetic_energy + seen.elastic_energy)
        sigma = model.elastic.deformation(state.positions).sigma[stiff]
        stretched = max(stretched, np.abs(sigma - 1.0).max())
        state, report = stepper.step(state, NO_PINS, 1 / 24)
    return max(energies) / energies[0], stretched


@pytest.mark.parametrize("theta", [0.5, 0.526, 0.8])
@pytest.mark.parametrize("bone", [1e7, 1e9])
@pytest.mark.parametrize("solver", ["mixed_fem", "newton"])
def test_an_extrapolated_end_neither_gains_energy_nor_stretches_bone(solver, bone, theta):
    """A turn that is extrapolated stretches bone by a quarter of the angle's square, where nothing guards it."""
    most, stretched = thrown_with_bone(solver, bone, theta)
    assert most < 1.02
    assert stretched < 2.0 * thrown_with_bone(solver, bone, theta, "bdf2")[1]
