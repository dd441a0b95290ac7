"""Plastic materials against closed forms of the flow law, and their motion, energy and resumption."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq
from sinew.benchmarks.bodies import block
from sinew.core.foundation.errors import MaterialError, SettingsError
from sinew.core.foundation.schema.settings import MaterialSettings, SolverSettings
from sinew.core.jobs.job.groups import grouped_jobs
from sinew.core.jobs.store.frame_store import FrameStore
from sinew.core.mechanics.materials.plastic_flow import inverse_gradients
from sinew.core.methods.model.model import build_model
from sinew.core.methods.model.nodes import single_vertices
from sinew.core.methods.solvers import make_solver
from sinew.core.methods.solvers.registry import space_of
from sinew.core.simulation.frame_loop.bake import bake
from sinew.core.simulation.frame_loop.group import simulate_group
from sinew.core.simulation.preparation.prepare import prepare

from ..jobs import shaken_bar
from ..simulation.test_group_bake import two

E, NU, YIELD, HARDENING = 1e6, 0.3, 0.05, 0.1
MU, LAM = E / (2 + 2 * NU), E * NU / ((1 + NU) * (1 - 2 * NU))
SOLVERS = "mixed_fem", "newton", "linearly_implicit", "multilevel_published", "subspace_mixed_fem", "conjac"


def cube(creep=0.0, smoothed=True):
    """A cube with one free vertex, in the middle: its boundary prescribes a homogeneous deformation."""
    mesh = block((2, 2, 2), (1.0, 1.0, 1.0))
    pinned = np.flatnonzero(((mesh.rest_positions == 0.0) | (mesh.rest_positions == 1.0)).any(axis=1))
    plasticity = np.tile([YIELD, creep, HARDENING], (len(mesh.tets), 1))
    return build_model(mesh, E, NU, 1e3, "neo_hookean", pinned=pinned, smoothed=smoothed, plasticity=plasticity)


def kirchhoff(logarithms):
    """Principal Kirchhoff stresses of the neo-Hookean energy ``mu/2 (|F|² - 3) - mu log J + lambda/2 log² J``."""
    return MU * (np.exp(2.0 * np.asarray(logarithms)) - 1.0) + LAM * np.sum(logarithms)


def uniaxial(stretch, plastic):
    """Elastic strains along and across a bar with free sides, and its plastic strain, after stretching it further."""

    def elastic(p):
        along = np.log(stretch) - p
        return along, brentq(lambda across: kirchhoff([along, across, across])[1], -0.5, 0.5, xtol=1e-14)

    def excess(p):
        along, across = elastic(p)
        return 2.0 / 3.0 * (along - across) - YIELD - HARDENING * p

    if excess(plastic) > 0.0:
        plastic = brentq(excess, plastic, np.log(stretch), xtol=1e-14)
    return *elastic(plastic), plastic


@pytest.mark.parametrize("smoothed", [True, False])
@pytest.mark.parametrize("solver", ["mixed_fem", "newton"])
def test_a_stretched_and_released_bar_follows_its_yield_curve(solver, smoothed):
    model = cube(smoothed=smoothed)
    X, state, plastic = model.mesh.rest_positions, model.rest_state(), 0.0
    stepper = make_solver(
        model, SolverSettings(solver=solver, integrator="statics", gravity=(0.0, 0.0, 0.0), tolerance=1e-10)
    )
    for stretch in (1.03, 1.06, 1.1, 1.2, 1.15, 1.1):
        along, across, plastic = uniaxial(stretch, plastic)
        size = np.exp(across - 0.5 * plastic)
        state, report = stepper.step(state, (X * [stretch, size, size])[model.pinned], 0.1)
        assert report.converged
        elastic = model.elastic.flowed(state.plastic)
        deformation = elastic.deformation(state.positions)
        stress = elastic.stress(deformation) @ deformation.F.transpose(0, 2, 1)
        right = np.diag([kirchhoff([along, across, across])[0], 0.0, 0.0])
        np.testing.assert_allclose(stress, np.tile(right, (len(stress), 1, 1)), atol=1e-6 * abs(right[0, 0]))
        np.testing.assert_allclose(state.plastic[:, 9], plastic, atol=1e-6 * YIELD)
    assert plastic > YIELD


@pytest.mark.parametrize("step", [0.1, 0.02])
def test_strain_that_is_held_creeps_as_its_closed_form(step):
    """F is prescribed, so the splitting has no error: the excess decays by exp(-(1 + H) c t) with any step."""
    model, rate = cube(creep=3.0), 3.0
    X, state, stretch = model.mesh.rest_positions, model.rest_state(), 1.2
    held = (X * [stretch, stretch**-0.5, stretch**-0.5])[model.pinned]
    stepper = make_solver(model, SolverSettings(integrator="statics", gravity=(0.0, 0.0, 0.0), tolerance=1e-10))
    for k in range(1, 6):
        state, _report = stepper.step(state, held, step)
        excess = (np.log(stretch) - YIELD) / (1.0 + HARDENING)
        right = excess * -np.expm1(-(1.0 + HARDENING) * rate * k * step)
        np.testing.assert_allclose(state.plastic[:, 9], right, rtol=1e-9)
        inverse = inverse_gradients(state.plastic)
        np.testing.assert_allclose(np.linalg.det(inverse), 1.0, rtol=1e-14)
        np.testing.assert_allclose(inverse[:, 0, 0], np.exp(-right), rtol=1e-9)


def hanging(steps, seconds=0.5, solver="mixed_fem", creep=5.0, **settings):
    """Return the states of a hanging bar of soft clay that stretches and creeps under its weight, and all reports."""
    mesh = block((2, 2, 6), (0.1, 0.1, 0.3))
    pinned = np.flatnonzero(mesh.rest_positions[:, 2] == 0.3)
    plasticity = np.tile([0.02, creep, 0.5], (len(mesh.tets), 1))
    model = build_model(mesh, 5e4, 0.3, 1e3, pinned=pinned, smoothed=True, plasticity=plasticity)
    settings = SolverSettings(solver=solver, tolerance=1e-9, max_iterations=200, **settings)
    model = space_of(replace(model, nodes=single_vertices(np.arange(0, 9), model.unknowns)), settings)
    stepper, states, reports = make_solver(model, settings), [model.rest_state()], []
    for _ in range(steps):
        pins = model.rest_state().positions[model.pinned]
        state, report = stepper.step(states[-1], pins, seconds / steps)
        states.append(state)
        reports.append(report)
    return model, states, reports


def test_the_splitting_has_an_error_of_first_order():
    """A bar creeps under its weight: half the step halves the error, so differences of halvings decrease by 2."""
    tips = [hanging(n, integrator="statics")[1][-1].positions[:, 2].min() for n in (5, 10, 20, 40)]
    changes = np.diff(tips)
    np.testing.assert_allclose(changes[:-1] / changes[1:], 2.0, rtol=0.05)


@pytest.mark.parametrize("solver", SOLVERS)
def test_all_solvers_flow(solver):
    model, states, _reports = hanging(40, solver=solver, creep=0.0, modes=6)
    assert model.vertices(states[-1].positions)[:, 2].min() == pytest.approx(-0.0202, abs=1.2e-3)
    assert states[-1].plastic[:, 9].max() == pytest.approx(0.069, rel=0.2)
    assert states[-1].fits(model.unknowns, len(model.elastic.weights))


def test_energy_stays_below_its_start():
    """A free bar that is thrown with a bend swings over 2,000 steps of the midpoint rule, which loses no energy."""
    mesh = block((6, 2, 2), (0.3, 0.1, 0.1))
    plasticity = np.tile([0.02, 0.0, 0.1], (len(mesh.tets), 1))
    model = build_model(mesh, 1e5, 0.3, 1e3, smoothed=True, plasticity=plasticity)
    settings = SolverSettings(integrator="theta_midpoint", theta=0.5, gravity=(0.0, 0.0, 0.0), tolerance=1e-8)
    X, stepper = mesh.rest_positions, make_solver(model, settings)
    state = model.state_at(X, np.column_stack([0.0 * X[:, 0], 0.0 * X[:, 0], 40.0 * (X[:, 0] - 0.15) ** 2]))
    energies = []
    for _ in range(2000):
        elastic = model.elastic.flowed(state.plastic)
        strain = elastic.value(elastic.deformation(state.positions)) + elastic.stabilization.value(state.positions)
        energies.append(0.5 * np.sum(state.velocities * (model.mass @ state.velocities)) + strain)
        state, _report = stepper.step(state, np.zeros((0, 3)), 1.0 / 240.0)
    assert state.plastic[:, 9].max() > 0.02
    assert max(energies) <= energies[0] * (1.0 + 1e-5)


def clay(frames=5, **settings):
    """The shaken bar, with flesh of clay."""
    job = shaken_bar(frames=frames, **settings)
    flesh, bone = job.body.materials
    return job.with_body(materials=(replace(flesh, yield_strain=0.01, creep=20.0, hardening=0.1), bone))


@pytest.mark.parametrize("solver", ["mixed_fem", "subspace_mixed_fem"])
def test_stop_and_resume_give_the_same_bits(tmp_path, solver):
    job = clay(solver=solver, substeps=2, modes=4, cubature_points=60)
    whole, store, seen = FrameStore.create(tmp_path / "whole", job), FrameStore.create(tmp_path / "parts", job), []
    bake(job, whole)
    assert bake(job, store, seen.append, lambda: sum(e.kind == "frame" for e in seen) == 3) == "stopped"
    assert bake(job, store, resume=True) == "done"
    last = [each.last_state(job.frame_start)[1].arrays() for each in (whole, store)]
    assert last[0].keys() == last[1].keys() and "plastic" in last[0]
    assert all(last[0][name].tobytes() == last[1][name].tobytes() for name in last[0])
    assert last[0]["plastic"][:, 9].max() > 1e-3


@pytest.mark.parametrize("solver", ["mixed_fem", "subspace_mixed_fem"])
def test_a_plastic_and_an_elastic_body_collide(solver):
    """A box of clay on one of rubber, on a plate that rises: only the clay has a plastic state."""
    job = two(solver=solver, modes=4)
    low, high = (
        replace(body, materials=tuple(replace(each, youngs_modulus=2e4, yield_strain=limit) for each in body.materials))
        for body, limit in zip(job.bodies, (0.0, 0.005))
    )
    job = replace(job, bodies=(low, high))
    (jobs,) = grouped_jobs(job)
    last = list(simulate_group(jobs, [prepare(each, collides=True) for each in jobs]))[-1]
    states = {each.body.name: frame.state for each, frame in zip(jobs, last)}
    assert states["Low"].plastic is None and states["High"].plastic[:, 9].max() > 1e-4


def test_bad_settings_are_refused():
    for name, value in (("yield_strain", -0.1), ("yield_strain", np.nan), ("creep", -1.0), ("hardening", np.inf)):
        with pytest.raises(MaterialError, match=name.replace("_", " ")):
            MaterialSettings(**{name: value})
    job = clay()
    with pytest.raises(MaterialError, match="plastic, but its energy “linear”"):
        flesh = replace(job.body.materials[0], energy="linear")
        job.with_body(materials=(flesh, job.body.materials[1])).check()
    matched = replace(job.body.solver, match_resolution=True, match_method="stretch_potential")
    with pytest.raises(SettingsError, match="Set Match Method to Fitted Materials"):
        job.with_body(solver=matched).check()
    job.with_body(solver=replace(matched, match_method="automatic")).check()


@pytest.mark.parametrize("solver", ["mixed_fem", "subspace_mixed_fem"])
def test_forces_of_flowed_elements_are_derivatives_of_their_energy(solver):
    model, states, _reports = hanging(20, solver=solver, creep=0.0, modes=4)
    elastic, x = model.elastic.flowed(states[-1].plastic), states[-1].positions

    def energy(at):
        held = elastic.stabilization
        return elastic.value(elastic.deformation(at)) + (0.0 if held is None else held.value(at))

    gradient = elastic.nodal_forces(elastic.stress(elastic.deformation(x)))
    if elastic.stabilization is not None:
        assert elastic.stabilization.value(x) < model.elastic.stabilization.value(x), "the secant modulus is lower"
        gradient += elastic.stabilization.gradient(x)
    dx = 1e-7 * np.random.default_rng(2).normal(size=x.shape)
    assert energy(x + dx) - energy(x - dx) == pytest.approx(2.0 * np.sum(gradient * dx), rel=2e-6)
