"""Bodies in a subspace that move with it: the same by every solver, to rest in long steps, with spin and friction."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sinew.core.foundation.schema.settings import SolverSettings
from sinew.core.foundation.schema.solver_kinds import SOLVER_KINDS
from sinew.core.jobs.job.job import Job
from sinew.core.mechanics.constraints.pins import REACH
from sinew.core.mechanics.forces.stiffening_springs import NEAR
from sinew.core.methods.eigenfit.stretch_potential import StretchLoad
from sinew.core.methods.eigenfit.vibrations import rigid_count, vibrations
from sinew.core.methods.solvers import make_solver, mixed_fem
from sinew.core.numerics.optimization.line_search import backtrack
from sinew.core.simulation.frame_loop.single_body import simulate_body
from sinew.core.simulation.preparation.prepare import prepare

from ..jobs import baked, shaken_bar
from .bodies import bar, corrected, free_pairs, matched, modes_of, reduced

IN_SUBSPACE = [name for name, kind in SOLVER_KINDS.items() if kind.takes_modes]
FULL = [name for name, kind in SOLVER_KINDS.items() if not kind.takes_modes and not kind.takes_nodes]
STILL = (0.0, 0.0, 0.0)


def load_of(matching, space, beta=0.0):
    """V of a subspace."""
    return matching.load(np.ones(len(space.elastic.weights)), beta)


def course(space, start, loads, step, steps, **settings):
    """States after each step, and iterations."""
    stepper = make_solver(space, SolverSettings(**{"max_iterations": 100, "gravity": STILL, **settings}))
    states, iterations = [start], 0
    for _ in range(steps):
        state, report = stepper.step(states[-1], start.positions[space.pinned], step, loads)
        assert report.converged, report.reason
        states.append(state)
        iterations += report.iterations
    return states, iterations


def thrown(space, speed):
    """A clamped bar that is thrown sideways and twisted."""
    X = space.mesh.rest_positions
    v = speed * X[:, :1] / X[:, 0].max() * ([0.0, 1.0, 0.4] + np.cross([5.0, 0.0, 0.0], X - X.mean(axis=0)))
    return space.state_at(np.zeros((space.unknowns, 3)), np.linalg.solve(space.mass, space.moved_mass.T @ v))


@pytest.mark.parametrize("speed", (0.01, 1.5))
def test_mixed_fem_and_newton_give_the_same_motion(speed):
    _model, space = reduced(hold="clamped")
    start, loads = thrown(space, speed), (load_of(matched(hold="clamped"), space),)
    options = {"tolerance": 1e-10}
    one, _ = course(space, start, loads, 0.01, 30, solver="subspace_mixed_fem", **options)
    other, _ = course(space, start, loads, 0.01, 30, solver="subspace_fem", **options)
    plain, _ = course(space, start, (), 0.01, 30, solver="subspace_fem", **options)
    apart = [space.max_displacement(a.positions - b.positions)[0] for a, b in zip(one, other, strict=True)]
    assert max(apart) <= 1e-8 * space.size
    changed = [space.max_displacement(a.positions - b.positions)[0] for a, b in zip(plain, other, strict=True)]
    assert max(changed) > 1e-3 * max(space.max_displacement(each.positions)[0] for each in plain)


@pytest.mark.parametrize("solver", ("subspace_mixed_fem", "subspace_fem"))
def test_it_takes_no_more_iterations(solver):
    _model, space = reduced(hold="clamped")
    start, loads = thrown(space, 1.5), (load_of(matched(hold="clamped"), space),)
    plain = course(space, start, (), 0.01, 100, solver=solver)[1]
    assert course(space, start, loads, 0.01, 100, solver=solver)[1] <= 1.05 * plain


@pytest.mark.parametrize("solver", IN_SUBSPACE)
def test_a_long_step_ends_at_the_static_sag_and_stays_there(solver):
    """Under so little weight that all is linear: where the corrected stiffness says. V as a potential of positions
    stopped Mixed FEM at its prediction.
    """
    model, space = reduced(hold="clamped")
    r = space.unknowns
    free = np.setdiff1d(np.arange(r), space.pinned)
    rows = np.concatenate([free + i * r for i in range(3)])
    g = np.array([0.0, 1e-4, -1e-4])
    K, f = corrected(space, matched(hold="clamped")), np.outer(g, space.lumped_masses).ravel()
    sag = np.zeros(3 * r)
    sag[rows] = np.linalg.solve(K[np.ix_(rows, rows)], f[rows])
    sag = sag.reshape(3, r).T
    loads = (load_of(matched(hold="clamped"), space),)
    options = {"solver": solver, "gravity": tuple(g), "tolerance": 1e-10}
    states, _ = course(space, space.rest_state(), loads, 1000.0, 5, **options)
    for state in states[1:]:
        assert space.max_displacement(state.positions - sag)[0] <= 1e-3 * space.max_displacement(sag)[0]


@pytest.mark.parametrize("solver", ("subspace_mixed_fem", "subspace_fem"))
def test_a_heavy_body_sags_once(solver):
    """It sags as far as Newton's solution by load increments, and no farther in later steps."""
    _model, space = reduced(hold="clamped")
    loads, state = (load_of(matched(hold="clamped"), space),), space.rest_state()
    for part in np.linspace(0.1, 1.0, 10):
        options = {"solver": "subspace_fem", "gravity": (0.0, 0.0, -9.81 * part), "tolerance": 1e-10}
        state = course(space, space.state_at(state.positions), loads, 1000.0, 1, **options)[0][-1]
    options = {"solver": solver, "gravity": (0.0, 0.0, -9.81), "tolerance": 1e-10}
    for sagged in course(space, space.rest_state(), loads, 1000.0, 4, **options)[0][1:]:
        assert space.max_displacement(sagged.positions - state.positions)[0] <= 1e-7 * space.size
    assert space.max_displacement(state.positions)[0] > 0.1 * space.size


def momenta(model, space, states):
    """Momentum and angular momentum of each, (k,3)."""
    X = model.mesh.rest_positions
    seen = [(X + space.basis @ s.positions, model.mass @ (space.basis @ s.velocities)) for s in states]
    return np.array([mv.sum(axis=0) for _x, mv in seen]), np.array([np.cross(x, mv).sum(axis=0) for x, mv in seen])


@pytest.mark.parametrize("solver", ("subspace_mixed_fem", "subspace_fem"))
def test_a_body_that_spins_and_shakes_keeps_its_momenta(solver):
    """To round-off by the implicit midpoint rule, which keeps those of every potential that does."""
    model, space = reduced()
    X = model.mesh.rest_positions
    v = np.cross([1.0, -2.0, 6.0], X - X.mean(axis=0)) + [0.3, 0.2, -0.1]
    v[:, 2] += 0.5 * np.cos(5.0 * np.pi * X[:, 0])
    start = space.state_at(np.zeros((space.unknowns, 3)), np.linalg.solve(space.mass, space.moved_mass.T @ v))
    options = {"solver": solver, "integrator": "theta_midpoint", "theta": 0.5, "tolerance": 1e-11}
    states, _ = course(space, start, (load_of(matched(), space),), 0.01, 60, **options)
    p, L = momenta(model, space, states)
    assert np.abs(p - p[0]).max() <= 1e-9 * np.abs(p[0]).max()
    assert np.abs(L - L[0]).max() <= 1e-8 * np.abs(L[0]).max()
    stretched = [np.abs(space.elastic.deformation(s.positions).sigma - 1.0).max() for s in states]
    assert max(stretched) > 0.05


@pytest.mark.parametrize("solver", IN_SUBSPACE)
def test_a_vibration_dies_as_by_rayleighs_damping_of_the_fine_one(solver):
    """By ``beta omega² / 2`` a second, with omega of all vertices, at 40 steps of BDF2 a period."""
    model, space = reduced()
    matching = matched()
    fine = matching.spectra.fine[matching.pairs.fine].min()
    values, modes = free_pairs(corrected(space, matching), space)
    assert values[6] == pytest.approx(fine, rel=1e-9) and abs(matching.spectra.coarse[0] / fine - 1.0) > 0.02
    omega, mode = np.sqrt(values[6]), modes[6]
    beta, step, left = 0.04 / omega, 2.0 * np.pi / omega / 40.0, []
    for each in (0.0, beta):
        options = {"solver": solver, "integrator": "bdf2", "stiffness_damping": each, "tolerance": 1e-11}
        start = space.state_at(1e-4 * mode)
        states, _ = course(space, start, (load_of(matching, space, each),), step, 80, **options)
        along = [[np.sum(mode * (space.mass @ part)) for part in (s.positions, s.velocities)] for s in states]
        energies = [(omega * q) ** 2 + v**2 for q, v in along]
        left.append(np.log(energies[80] / energies[40]))
    assert (left[0] - left[1]) / (40 * step) == pytest.approx(beta * omega**2, rel=0.02)


@pytest.mark.parametrize("solver", FULL)
def test_in_all_vertices_a_mode_swings_at_the_frequency_that_is_asked(solver):
    """A free bar whose first eigenvalue is halved and whose second is doubled: by the midpoint rule as the closed form
    ``cos(2 n atan(omega h / 2))``.
    """
    model = bar()
    values, modes, stretch = modes_of(model, 4)
    asked = values * np.array([0.5, 2.0, 1.0, 1.0])
    loads = (StretchLoad(stretch, np.diag(asked - values)),)
    for k in (0, 1):
        step = 2.0 * np.pi / np.sqrt(asked[k]) / 30.0
        start = model.state_at(model.mesh.rest_positions + 1e-6 * modes[k])
        options = {"solver": solver, "integrator": "theta_midpoint", "theta": 0.5, "tolerance": 1e-11}
        states, _ = course(model, start, loads, step, 45, **options)
        moved = np.array([s.positions - model.mesh.rest_positions for s in states]).reshape(46, -1)
        q = moved @ (model.mass @ modes[k]).ravel() / 1e-6
        expected = np.cos(2.0 * np.arange(46) * np.arctan(0.5 * np.sqrt(asked[k]) * step))
        assert np.abs(q - expected).max() <= 1e-4


@pytest.fixture
def softened():
    """A clamped bar, of a tenth of its stiffness in its first modes, that is thrown by its length a step: makes its
    last state, and tells of each solution whether the low rank was left out.
    """
    model = bar("arap", "clamped")
    values, _modes, stretch = modes_of(model)
    X, loads = model.mesh.rest_positions, (StretchLoad(stretch, np.diag(-0.9 * values)),)

    def moved(steps, **settings):
        stepper = make_solver(model, SolverSettings(gravity=STILL, **settings))
        solve, left_out = stepper.system.solve, []

        def noted(right_hand_side):
            x = solve(right_hand_side)
            left_out.append(stepper.system.low_rank is None)
            return x

        stepper.system.solve = noted
        v = 3.0 * X[:, :1] / X[:, 0].max() * ([0.0, 1.0, 0.4] + np.cross([5.0, 0.0, 0.0], X - X.mean(axis=0)))
        state, converged = model.state_at(X, v), []
        for _ in range(steps):
            state, report = stepper.step(state, X[model.pinned], 0.04, loads)
            converged.append(report.converged)
        return state.positions - X, all(converged), left_out

    return model, moved


@pytest.mark.parametrize("linear_solver", ("cholmod", "pcg"))
def test_a_low_rank_that_is_not_definite_amid_a_bake_is_left_out_and_its_force_kept(linear_solver, softened):
    """Mixed FEM ends where Newton does."""
    model, moved = softened
    options = {"linear_solver": linear_solver, "tolerance": 1e-10, "max_iterations": 1000}
    mixed, converged, left_out = moved(4, solver="mixed_fem", **options)
    assert converged and 0 < sum(left_out) < len(left_out)
    newton, converged, _left_out = moved(4, solver="newton", **options)
    assert converged and model.max_displacement(mixed - newton)[0] <= 1e-7 * model.size < 1e-2 * np.abs(mixed).max()


def test_the_merit_falls_as_mixed_fem_says_with_a_low_rank_left_out(softened, monkeypatch):
    """While s and s(F) differ: its gradient knows of what is left out."""
    ratios = []

    def watched(trial, start, magnitude, slope, longest):
        if -slope > 1e-6 * magnitude:
            ratios.append((trial(1e-5)[0] - trial(-1e-5)[0]) / 2e-5 / slope)
        return backtrack(trial, start, magnitude, slope, longest)

    monkeypatch.setattr(mixed_fem, "backtrack", watched)
    _model, moved = softened
    _, _, left_out = moved(4, solver="mixed_fem", quadratic_finish=False, max_iterations=30)
    assert sum(left_out) > 10 and len(ratios) > 20
    np.testing.assert_allclose(ratios, 1.0, atol=1e-3)


def a_job(frames=12, solver="subspace_mixed_fem", **options) -> Job:
    job = shaken_bar(frames, solver)
    chosen = {"modes": 4, "cubature_points": 40, "max_iterations": 50, **options}
    return job.with_body(solver=replace(job.body.solver, **chosen))


def test_a_body_that_springs_shake_moves_the_same_by_every_solver():
    """Compliances of these springs are computed to NEAR of their range."""
    settings = {"tolerance": 1e-10, "max_iterations": 1000, "gravity": (0.0, 0.0, -1.0)}
    one, other = (np.array(baked(a_job(8, solver, **settings))) for solver in IN_SUBSPACE)
    assert prepare(a_job()).pin_springs.holding(1, np.ones(1000)) is not None
    assert np.abs(one - other).max() <= NEAR * REACH * 0.05


@pytest.mark.parametrize("gravity", (0.1, 9.81))
def test_pins_that_firm_up_under_load_do_not_spoil_it(gravity):
    """Their springs are soft under small loads and 4000 times as stiff under large ones: near the motion of all
    vertices under both, from a thousandth of the size to a fifth.
    """

    def moved(**options):
        job = a_job(14, substeps=4, gravity=(0.0, 0.0, -gravity), modes=8, cubature_points=320, **options)
        X = job.body.surface.positions[job.body.pinned_vertices]
        stiff = tuple(replace(each, youngs_modulus=1e6) for each in job.body.materials)
        finer = replace(job.body.resolution, cells_across=12)
        held = job.with_body(materials=stiff, pin_positions=np.repeat(X[None], 14, axis=0), resolution=finer)
        return np.array(baked(held))

    fine = moved(solver="mixed_fem")
    amplitude = np.linalg.norm(fine - fine[0], axis=2).max()
    on, off = (np.linalg.norm(moved(match_full_space=each) - fine, axis=2).max() for each in (True, False))
    assert on <= 0.15 * amplitude and off >= 0.5 * amplitude


def test_without_it_the_bits_are_those_of_the_bare_subspace():
    job = a_job(match_full_space=False)
    prepared = prepare(job)
    assert prepared.matching is None
    matched = a_job(match_method="stretch_potential")
    with_it = prepare(matched)
    assert with_it.matching is not None and np.array_equal(with_it.space.basis, prepared.space.basis)
    bare = list(simulate_body(matched, replace(with_it, matching=None)))
    off, on = list(simulate_body(job, prepared)), list(simulate_body(matched, with_it))
    assert all(np.array_equal(a.state.positions, b.state.positions) for a, b in zip(off, bare, strict=True))
    assert not np.array_equal(on[-1].state.positions, off[-1].state.positions)


def test_the_full_space_knows_nothing_of_it():
    one, other = (baked(shaken_bar(4, match_full_space=each)) for each in (True, False))
    assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_the_setting_travels_with_the_job(tmp_path):
    job = a_job(match_full_space=False, match_modes=7)
    job.save(tmp_path / "job.npz")
    solver = Job.load(tmp_path / "job.npz").body.solver
    assert solver.match_full_space is False and solver.match_modes == 7


def released(frames, at, **options) -> Job:
    job = a_job(frames, **options)
    held = np.ones((frames, len(job.body.pinned_vertices)), dtype=bool)
    held[at:] = False
    return job.with_body(pin_held=held)


def test_modes_are_those_of_the_pins_that_hold_in_all_frames():
    """Once all let go: of a free body, found in time."""
    prepared = prepare(released(6, 3))
    free = replace(prepared.model, pinned=np.zeros(0, dtype=np.int64), anchors=None)
    assert rigid_count(free) == 6
    expected = vibrations(free, 6 + 10).eigenvalues[6:]
    np.testing.assert_allclose(prepared.matching.spectra.fine[:10], expected, rtol=1e-6)
