"""Vibrations made softer and stiffer: their frequencies, large swings, and keyed, by hand and in files."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sinew.benchmarks.bodies import block, held_end
from sinew.core.foundation.errors import SettingsError
from sinew.core.foundation.events import SetStiffness, event_of, line_of
from sinew.core.foundation.schema.settings import SolverSettings
from sinew.core.foundation.schema.solver_kinds import SOLVER_KINDS
from sinew.core.jobs.job.body import VIBRATION_STIFFNESS
from sinew.core.jobs.job.job import Job
from sinew.core.jobs.store.frame_store import FrameStore
from sinew.core.mechanics.constraints.pins import REACH
from sinew.core.mechanics.forces.stiffening_springs import NEAR
from sinew.core.methods.eigenfit.matching import Matching, find_spectra, pair
from sinew.core.methods.eigenfit.methods import METHODS
from sinew.core.methods.eigenfit.stretch_potential import StretchLoad
from sinew.core.methods.model.model import build_model
from sinew.core.methods.solvers import make_solver
from sinew.core.methods.subspaces.reduced_model import skinning_subspace
from sinew.core.simulation.frame_loop.live import LiveBody
from sinew.core.simulation.frame_loop.single_body import simulate_body
from sinew.core.simulation.preparation.prepare import prepare

from ..jobs import baked, changed, shaken_bar
from .bodies import COUNT, bar, corrected, dense_stiffness, free_pairs, reduced
from .test_motion import FULL, IN_SUBSPACE, STILL, course, momenta, thrown

SOFTEST, STIFFEST = VIBRATION_STIFFNESS
FACTORS = np.array([SOFTEST, STIFFEST, 1.0, 0.5, 3.0, STIFFEST, SOFTEST, 2.0])


def limb():
    """A bar of flesh around bone, a thousand times as stiff, held at its end, and a subspace of it."""
    mesh = block((6, 2, 2), (0.4, 0.08, 0.1))
    bone = mesh.rest_positions[mesh.tets].mean(axis=1)[:, 0] % 0.2 < 0.07
    model = build_model(mesh, np.where(bone, 1e8, 1e5), 0.45, 1e3, pinned=held_end(mesh))
    return model, skinning_subspace(model, 8, 120).model


BODIES = {"free": reduced, "clamped": lambda: reduced(hold="clamped"), "limb": limb}


def matching_of(model, space, finer=None):
    spectra = find_spectra(model, space, COUNT, finer=finer)
    return Matching(space, spectra, pair(spectra, COUNT))


def controlled(matching, space, factors, beta=0.0):
    return matching.load(np.ones(len(space.elastic.weights)), beta, factors)


def spectrum(K, space, rigid):
    return free_pairs(K, space)[0][rigid : rigid + 2 * COUNT]


@pytest.mark.parametrize("is_matched", (True, False))
@pytest.mark.parametrize("body", BODIES)
def test_a_controlled_mode_has_its_factor_of_the_right_eigenvalue(body, is_matched):
    """Tried on a matched and an unmatched subspace; uncontrolled modes keep their eigenvalues."""
    model, space = BODIES[body]()
    matching, rigid = matching_of(model, space, None if is_matched else space), 6 if body == "free" else 0
    spectra, pairs = matching.spectra, matching.pairs
    expected = free_pairs(dense_stiffness(space), space)[0][rigid:]
    assert len(pairs.coarse) >= (5 if is_matched else COUNT - 1)
    expected[pairs.coarse] = FACTORS[pairs.coarse] * spectra.fine[pairs.fine]
    expected[pairs.alone] *= FACTORS[pairs.alone]
    found = spectrum(corrected(space, matching, factors=FACTORS), space, rigid)
    np.testing.assert_allclose(found, np.sort(expected)[: 2 * COUNT], rtol=1e-8)


def test_what_is_left_alone_is_controlled_as_it_is():
    """One mode of skinning makes twelve movements, of which the fast ones are none of the body's."""
    model = bar()
    space = skinning_subspace(model, 1, 60).model
    matching, rigid = matching_of(model, space), 6
    plain, (one, other, *_) = free_pairs(dense_stiffness(space), space)[0][rigid:], matching.pairs.alone
    factors = np.ones(COUNT)
    factors[[one, other]] = SOFTEST, STIFFEST
    found = free_pairs(corrected(space, matching, factors=factors), space)[0][rigid:]
    for k in (one, other):
        assert np.abs(found / (factors[k] * plain[k]) - 1.0).min() <= 1e-8


@pytest.mark.parametrize("factor", (SOFTEST, STIFFEST))
@pytest.mark.parametrize("solver", FULL)
def test_in_all_vertices_it_swings_at_the_root_of_it(solver, factor):
    """By the midpoint rule as the closed form ``cos(2 n atan(omega h / 2))``, with no finer body."""
    model = bar()
    matching = matching_of(model, model)
    k, spectra = 1, matching.spectra
    omega = np.sqrt(factor * spectra.coarse[k])
    step, factors = 2.0 * np.pi / omega / 30.0, np.ones(COUNT)
    factors[k] = factor
    start = model.state_at(model.mesh.rest_positions + 1e-6 * spectra.modes[k])
    options = {"solver": solver, "integrator": "theta_midpoint", "theta": 0.5, "tolerance": 1e-11}
    states, _ = course(model, start, (controlled(matching, model, factors),), step, 45, **options)
    moved = np.array([s.positions - model.mesh.rest_positions for s in states]).reshape(46, -1)
    q = moved @ (model.mass @ spectra.modes[k]).ravel() / 1e-6
    expected = np.cos(2.0 * np.arange(46) * np.arctan(0.5 * omega * step))
    assert np.abs(q - expected).max() <= 1e-4


@pytest.mark.parametrize("solver", IN_SUBSPACE)
def test_it_dies_as_by_rayleighs_damping_of_what_it_is_made(solver):
    """By ``beta omega² / 2`` a second, at 40 steps of BDF2 a period."""
    model, space = reduced()
    matching = matching_of(model, space)
    for factor in (SOFTEST, STIFFEST):
        factors, k = np.ones(COUNT), 0
        factors[k] = factor
        eigenvalue = factor * matching.spectra.fine[matching.pairs.fine[k]]
        values, modes = free_pairs(corrected(space, matching, factors=factors), space)
        mode, omega = modes[6 + np.abs(values[6:] / eigenvalue - 1.0).argmin()], np.sqrt(eigenvalue)
        beta, step, left = 0.04 / omega, 2.0 * np.pi / omega / 40.0, []
        for each in (0.0, beta):
            options = {"solver": solver, "integrator": "bdf2", "stiffness_damping": each, "tolerance": 1e-11}
            loads = (controlled(matching, space, factors, each),)
            states, _ = course(space, space.state_at(1e-5 * mode), loads, step, 80, **options)
            along = [[np.sum(mode * (space.mass @ part)) for part in (s.positions, s.velocities)] for s in states]
            energies = [(omega * q) ** 2 + v**2 for q, v in along]
            left.append(np.log(energies[80] / energies[40]))
        assert (left[0] - left[1]) / (40 * step) == pytest.approx(beta * eigenvalue, rel=0.02)


@pytest.mark.parametrize("solver", ("subspace_mixed_fem", "subspace_fem"))
def test_a_body_that_spins_and_shakes_keeps_its_momenta(solver):
    """To round-off by the implicit midpoint rule."""
    model, space = reduced()
    X = model.mesh.rest_positions
    v = np.cross([1.0, -2.0, 6.0], X - X.mean(axis=0)) + [0.3, 0.2, -0.1]
    v[:, 2] += 0.5 * np.cos(5.0 * np.pi * X[:, 0])
    start = space.state_at(np.zeros((space.unknowns, 3)), np.linalg.solve(space.mass, space.moved_mass.T @ v))
    options = {"solver": solver, "integrator": "theta_midpoint", "theta": 0.5, "tolerance": 1e-11}
    loads = (controlled(matching_of(model, space), space, FACTORS),)
    p, L = momenta(model, space, course(space, start, loads, 0.01, 60, **options)[0])
    assert np.abs(p - p[0]).max() <= 1e-9 * np.abs(p[0]).max()
    assert np.abs(L - L[0]).max() <= 1e-8 * np.abs(L[0]).max()


def energies_of(space, load, states):
    """Elastic and kinetic energy with V, J, of each state."""
    potential = load.begin(type("Still", (), {"start": states[0].positions})())
    told = []
    for state in states:
        at, v = space.elastic.deformation(state.positions), state.velocities
        told.append(space.elastic.value(at) + potential.value(at.polar()) + 0.5 * np.sum(v * (space.mass @ v)))
    return np.array(told)


@pytest.mark.parametrize("factor", (SOFTEST, STIFFEST))
@pytest.mark.parametrize("energy", ("stable_neo_hookean", "arap"))
def test_large_swings_stay_whole(energy, factor):
    """All modes at the ends of their range: a bar that swings by its own length when soft, by implicit Euler, gains
    nothing in any step, and moves the same by both solvers. Where q had measured ``S - I`` it flew apart.
    """
    model, space = reduced(energy, "clamped")
    matching, start = matching_of(model, space), thrown(space, 1.5)
    load = controlled(matching, space, np.full(COUNT, factor))
    plain = controlled(matching, space, None)
    runs = []
    for solver in ("subspace_mixed_fem", "subspace_fem"):
        options = {"solver": solver, "tolerance": 1e-8}
        states, iterations = course(space, start, (load,), 0.01, 80, **options)
        told = energies_of(space, load, states)
        assert (np.diff(told) <= 1e-6 * told[0]).all() and told.min() > 0.0
        assert iterations <= 2 * course(space, start, (plain,), 0.01, 80, **options)[1]
        runs.append(states)
    apart = max(space.max_displacement(a.positions - b.positions)[0] for a, b in zip(*runs, strict=True))
    farthest = max(space.max_displacement(each.positions)[0] for each in runs[0])
    assert apart <= 1e-4 * farthest and (farthest > 0.9 * space.size) == (factor == SOFTEST)


def test_mixed_fem_does_not_stop_where_its_merit_knows_no_way_down():
    """The mode is ten times as stiff, with its stiffness at rest alone. Steps had been called converged by their
    prediction, and the bar flew away.
    """
    model, space = reduced("arap", "clamped")
    load = controlled(matching_of(model, space), space, np.full(COUNT, STIFFEST))
    weak = StretchLoad(load._modes, load._core)
    settings = SolverSettings(solver="subspace_mixed_fem", gravity=STILL, max_iterations=100)
    stepper, states = make_solver(space, settings), [thrown(space, 5.0)]
    for _ in range(12):
        states.append(stepper.step(states[-1], np.zeros((len(space.pinned), 3)), 0.01, (weak,))[0])
    told = energies_of(space, weak, states)
    assert (np.diff(told) <= 1e-6 * told[0]).all()


# -- jobs --------------------------------------------------------------------------------------------------------------


def a_job(frames=4, factors=None, **solver) -> Job:
    job, chosen = shaken_bar(frames), {"modes": 4, "cubature_points": 40, "max_iterations": 50, **solver}
    chosen = replace(job.body.solver, **{"solver": "subspace_mixed_fem", **chosen})
    return job.with_body(solver=chosen, vibration_stiffness=None if factors is None else np.asarray(factors, float))


def keyed(job, course, count=3):
    """The ``count`` slowest, at each frame."""
    return job.with_body(vibration_stiffness=np.tile(np.asarray(course, dtype=float)[:, None], count))


@pytest.mark.parametrize(
    "options",
    [
        *({"solver": name, "match_full_space": False} for name in SOLVER_KINDS),
        {},
        {"match_resolution": True, "match_cells": 16},
    ],
    ids=lambda options: "-".join(map(str, options.values())) or "matched",
)
def test_what_stiffens_at_once_moves_like_what_was_stiff(options, tmp_path):
    """Matched or not, whatever the solver: it is at rest at the first frame, so that of its past nothing is left."""
    job = a_job(**options)
    store, courses = FrameStore.create(tmp_path / "store", job), ([1.0, 10.0, 10.0, 10.0], [10.0] * 4, [1.0] * 4)
    stiffened, stiff, soft = (baked(keyed(job, course), store) for course in courses)
    assert np.array_equal(stiffened, stiff)
    assert np.abs(stiffened[3] - soft[3]).max() > 1e-4


def test_it_goes_straight_in_its_logarithm_over_substeps():
    job = a_job(2, substeps=2)
    softened = baked(keyed(job, [10.0, 0.1]))
    half = changed(
        job,
        solver=replace(job.body.solver, substeps=1),
        frame_rate=48.0,
        frame_end=3,
        pin_positions=np.linspace(job.body.pin_positions[0], job.body.pin_positions[1], 3),
        object_to_world=None,
        pin_held=None,
    )
    steps = baked(keyed(half, [10.0, 1.0, 0.1]))
    np.testing.assert_allclose(softened[1], steps[2], atol=1e-12)


def test_ones_leave_a_matched_body_as_it_is():
    """Pin compliances are computed to NEAR of their range. The method that controls is set, since Automatic chooses
    another one without control.
    """
    job = a_job(tolerance=1e-10, match_method="stretch_potential")
    one, other = (np.array(baked(each)) for each in (job, keyed(job, np.ones(4))))
    assert np.abs(one - other).max() <= NEAR * REACH * 0.05


def test_a_resumed_bake_goes_on_with_the_same_bits():
    job = keyed(a_job(5), [1.0, 0.3, 0.1, 4.0, 10.0])
    frames = list(simulate_body(job, prepare(job)))
    again = list(simulate_body(job, prepare(job), (frames[2].number, frames[2].state)))
    assert np.array_equal(again[-1].state.positions, frames[-1].state.positions)


def test_by_hand_it_moves_as_a_job_that_has_it():
    job = keyed(a_job(), np.ones(4)).extended()
    body, prepared = LiveBody(job, prepare(job)), prepare(job)
    command = event_of(line_of(SetStiffness([], [0.1, 10.0, 1.0])))
    assert not body.set_stiffness(command.youngs_modulus, command.vibrations)
    live = [body.advance([]).state.positions for _ in range(3)]
    set_so = job.with_body(vibration_stiffness=np.tile([0.1, 10.0, 1.0], (5, 1)))
    expected = [frame.state.positions for frame in simulate_body(set_so, prepared)][1:4]
    np.testing.assert_allclose(live, expected, atol=1e-12)
    for wrong in ([0.05, 1.0, 1.0], [1.0, 1.0], [np.nan, 1.0, 1.0]):
        with pytest.raises(SettingsError, match="stiffness factor of a vibration"):
            body.set_stiffness(vibrations=wrong)
    with pytest.raises(SettingsError):
        LiveBody(a_job(), prepare(a_job())).set_stiffness(vibrations=[1.0])


def test_it_travels_with_the_job(tmp_path):
    job = keyed(a_job(), [1.0, 2.0, 0.5, 0.1])
    job.save(tmp_path / "job.npz")
    assert np.array_equal(Job.load(tmp_path / "job.npz").body.vibration_stiffness, job.body.vibration_stiffness)
    differing = [part for part, digest in a_job().fingerprints().items() if digest != job.fingerprints()[part]]
    assert differing == ["solver"] and len(job.until(2).body.vibration_stiffness) == 2
    assert (job.extended().body.vibration_stiffness[-1] == 0.1).all()


@pytest.mark.parametrize(
    "wrong", [np.ones((3, 2)), np.ones(4), np.ones((4, 0)), np.ones((4, 41)), np.full((4, 1), 0.09), [[11.0]] * 4]
)
def test_factors_that_do_not_fit_are_refused(wrong):
    with pytest.raises(SettingsError, match="stiffness factor of a vibration"):
        a_job(factors=wrong)


@pytest.mark.parametrize("name", METHODS)
def test_a_method_that_cannot_is_refused(name):
    job = a_job(factors=np.ones((4, 3)), match_method=name, solver="subspace_fem")
    if METHODS[name].controls:
        return job.check()
    with pytest.raises(SettingsError, match="softer or stiffer"):
        job.check()
    changed(job, solver=replace(job.body.solver, match_full_space=False)).check()


@pytest.mark.parametrize("solver", ("subspace_mixed_fem", "newton"))
def test_a_body_tells_of_what_can_be_controlled(solver):
    said = []
    factors = np.ones((4, 12))
    factors[2, [1, 10, 11]] = 0.5
    job = a_job(factors=factors, solver=solver, match_full_space=False, match_modes=6)
    prepare(job, on_event=said.append)
    event = next(each for each in said if each.kind == "mesh")
    rows = np.array(event.vibrations)
    assert event.match.startswith(f"{len(rows)} vibrations can be controlled; the first has ")
    assert event.match.endswith("Vibrations 11 and 12 are not controlled: raise Matched Vibrations.")
    assert np.array_equal(rows[:, 0], rows[:, 1]) and (rows[:, 2] == 1.0).all()
