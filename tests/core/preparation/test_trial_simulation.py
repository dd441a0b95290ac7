"""A match is tried for one swing: against its vibrations and another solver; kept; the best of several is taken."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sinew.core.foundation.errors import DivergenceError
from sinew.core.foundation.schema.settings import SolverSettings
from sinew.core.jobs.store import cached_reference_trajectory as module
from sinew.core.jobs.store.frame_store import FrameStore
from sinew.core.mechanics.forces.acceleration_field import AccelerationField
from sinew.core.methods.eigenfit import trial_simulation
from sinew.core.methods.eigenfit.error_estimate import Estimate
from sinew.core.methods.eigenfit.methods import METHODS
from sinew.core.methods.eigenfit.trial_simulation import (
    BENT,
    LONG,
    STEPS,
    TURNING,
    ErrorTest,
    best_match,
    choices,
    is_improvement,
    reference_trajectory,
    trial_loads,
)
from sinew.core.methods.eigenfit.vibrations import rigid_count, vibrations
from sinew.core.methods.solvers import make_solver
from sinew.core.simulation.preparation import body_matching
from sinew.core.simulation.preparation.prepare import prepare

from ..eigenfit.bodies import bar, matched, reduced
from ..jobs import shaken_bar


@pytest.mark.parametrize("hold", ["free", "clamped"])
def test_a_body_that_is_bent_little_swings_as_its_vibrations_do(hold, monkeypatch):
    """One oscillator each, that is pushed at once, by the same rule in steps as long (BDF2, first implicit Euler)."""
    monkeypatch.setattr(trial_simulation, "BENT", 1e-4 * BENT)
    model = bar(hold=hold)
    swing, rigid = reference_trajectory(model, ()), rigid_count(model)
    found = vibrations(model, rigid + 40).after(rigid, 40)
    p = np.einsum("kni,ni->k", found.modes, swing.push)
    assert np.linalg.norm(swing.push.sum(axis=0)) < (1e-9 if hold == "free" else np.inf) * np.abs(swing.push).sum()
    omega = np.sqrt(found.eigenvalues)
    assert swing.step == pytest.approx(2.0 * np.pi / omega[0] / STEPS)
    bent = np.tensordot(p / found.eigenvalues, found.modes, axes=1)
    assert np.linalg.norm(bent, axis=1).max() == pytest.approx(1e-4 * BENT * model.size, rel=1e-3)
    x, v = np.zeros((STEPS + 1, len(p))), np.zeros((STEPS + 1, len(p)))
    for k in range(STEPS):
        part = 2.0 / 3.0 if k else 1.0
        x_base, v_base = ((4.0 * a[k] - a[k - 1]) / 3.0 if k else a[k] for a in (x, v))
        h = part * swing.step
        x[k + 1] = (x_base + h * v_base + h * h * p) / (1.0 + h * h * found.eigenvalues)
        v[k + 1] = (x[k + 1] - x_base) / h
    right = np.tensordot(x, found.modes, axes=1)
    away = np.linalg.norm(swing.displacements - right, axis=2).max()
    assert away < 0.005 * np.linalg.norm(right, axis=2).max()


@pytest.mark.parametrize("hold", ["free", "clamped"])
def test_a_stiffer_body_swings_the_same_in_less_time(hold):
    swing, other = (reference_trajectory(bar(hold=hold, modulus=E), ()) for E in (1e5, 4e5))
    told = swing.stiffer(4.0)
    assert told.step == pytest.approx(other.step, rel=1e-6) and told.step == pytest.approx(0.5 * swing.step)
    np.testing.assert_allclose(told.push, other.push, atol=1e-5 * np.abs(other.push).max())
    np.testing.assert_allclose(told.displacements, other.displacements, atol=1e-4 * np.abs(other.displacements).max())


def test_a_match_is_as_far_off_as_another_solver_finds_it():
    """All of it computed by Newton and Subspace FEM, with settings of their own."""
    (model, space), matching = reduced(hold="clamped"), matched(hold="clamped")
    swing = reference_trajectory(model, ())
    trial, rest = ErrorTest([swing], space, ((), ()), space.basis), model.mesh.rest_positions

    def moved(by, push, solver, loads):
        settings = SolverSettings(
            solver=solver, gravity=(0.0, 0.0, 0.0), max_iterations=300, tolerance=1e-9, integrator="bdf2"
        )
        stepper, state = make_solver(by, settings), by.rest_state()
        pins, seen = state.positions[by.pinned], [state.positions]
        for _ in range(STEPS):
            state, _report = stepper.step(state, pins, swing.step, (AccelerationField(push), *loads))
            seen.append(state.positions)
        return np.array(seen)

    fine = moved(model, swing.push, "newton", ()) - rest
    loads = (matching.load(np.ones(len(space.elastic.weights))),)
    for told, acting in ((trial.error_of(), ()), (trial.error_of(matching), loads)):
        seen = moved(space, space.basis.T @ swing.push, "subspace_fem", acting)
        apart = [np.linalg.norm(space.basis @ u - x, axis=1).max() for u, x in zip(seen, fine, strict=True)]
        assert told == pytest.approx(max(apart) / np.linalg.norm(fine, axis=2).max(), abs=2e-3)


@pytest.mark.parametrize("name", METHODS)
def test_the_best_of_what_a_method_can_make_is_taken(name):
    method, (model, space), spectra = METHODS[name], reduced(hold="clamped"), matched(hold="clamped").spectra
    trial = ErrorTest([reference_trajectory(model, ())], space, ((), ()), space.basis)
    pairs = choices(spectra, 4, is_set=False)
    assert [len(each.shares) for each in pairs] == [4, 8] and len(choices(spectra, 4, is_set=True)) == 1
    best = trial.error_of(best_match([method], space, spectra, pairs, None, trial.error_of))
    assert (
        best < trial.error_of()
        and trial.estimates(best_match([method], space, spectra, pairs))[0].plain == trial.error_of()
    )
    all_of_them = [
        trial.error_of(method(space, spectra, each, None, *way)) for each in pairs for way in method.variants
    ]
    assert best == pytest.approx(min(all_of_them) if len(method.variants) > 1 else all_of_them[0], rel=1e-9)


def test_without_a_trial_the_first_way_is_taken():
    method, space, spectra = METHODS["fitted_materials"], reduced()[1], matched().spectra
    pairs = choices(spectra, 4, is_set=False)
    plain = method(space, spectra, pairs[0])
    np.testing.assert_array_equal(best_match([method], space, spectra, pairs).stiffness, plain.stiffness)


class Told:
    """A method that is as far off as it is told."""

    variants = ((),)

    def __init__(self, off):
        self.far = off

    def __call__(self, *_given):
        return self


@pytest.mark.parametrize(("quick", "dear", "taken"), [(0.1, 0.06, "dear"), (0.1, 0.08, "quick"), (0.02, 0.0, "quick")])
def test_a_dearer_method_is_taken_where_it_is_much_nearer(quick, dear, taken):
    methods = {"quick": Told(quick), "dear": Told(dear)}
    found = best_match(list(methods.values()), reduced()[1], None, [None], None, lambda match: match.far)
    assert found is methods[taken]


def test_a_match_is_improvement_where_no_push_says_otherwise():
    """Between meshes by a fifth at least, and by no push farther off than half a hundredth."""
    for is_one_mesh in (True, False):
        assert is_improvement([Estimate(0.3, 0.1), Estimate(0.1, 0.104)], is_one_mesh)
        assert not is_improvement([Estimate(0.3, 0.1), Estimate(0.1, 0.106)], is_one_mesh)
        assert not is_improvement([Estimate(0.3, np.inf)], is_one_mesh)
        assert is_improvement([Estimate(0.3, 0.25)], is_one_mesh) == is_one_mesh


@pytest.mark.parametrize("hold", ["free", "clamped"])
def test_trial_loads_bend_the_body_differently_and_do_not_throw_a_free_one(hold):
    model = bar(hold=hold)
    found = [reference_trajectory(model, (), load=name) for name in trial_loads(hold == "free", np.ones(3))]
    for k, swing in enumerate(found):
        for other in found[:k]:
            assert not np.allclose(swing.push, other.push, atol=0.1 * np.abs(swing.push).max())
        pulled = np.linalg.norm(swing.push.sum(axis=0)) / np.abs(swing.push).sum()
        assert pulled < 1e-9 if hold == "free" else pulled > 0.01
        reach = np.linalg.norm(swing.displacements, axis=2).max() / model.size
        assert 0.05 < reach < 0.4


def test_slender_bodies_are_not_pulled_along():
    assert LONG in trial_loads(False, np.array([1.0, 1.5, 0.2]))
    assert LONG not in trial_loads(False, np.array([0.5, 3.0, 0.5]))


def test_the_load_of_a_free_body_does_not_depend_on_round_off():
    """Accelerations of a rigid motion leave nothing but round-off once they are projected onto the vibrations."""
    model = bar(hold="free")
    push, other = (
        reference_trajectory(each, (), load=TURNING).push for each in (model, bar(hold="free", modulus=1.0000001e5))
    )
    np.testing.assert_allclose(push, other, atol=1e-4 * np.abs(push).max())


def never(*_arguments):
    raise AssertionError("swung anew")


@pytest.fixture(scope="module")
def job():
    return shaken_bar(frames=4, solver="subspace_mixed_fem", modes=4, cubature_points=40)


@pytest.fixture
def store(tmp_path, job):
    return FrameStore.create(tmp_path / "store", job)


def test_a_swing_is_found_once_for_any_subspace(job, store, monkeypatch):
    first = prepare(job, store)
    monkeypatch.setattr(module, "reference_trajectory", never)
    again = prepare(job, FrameStore(store.folder))
    np.testing.assert_array_equal(first.matching.stiffness, again.matching.stiffness)
    assert "Test error " in store.match()
    materials = tuple(replace(each, youngs_modulus=1.7 * each.youngs_modulus) for each in job.body.materials)
    for other in ({"materials": materials}, {"solver": replace(job.body.solver, modes=5, match_modes=5)}):
        prepare(job.with_body(**other), store)
    held = np.ones_like(job.body.pin_held)
    held[3:] = False
    with pytest.raises(AssertionError, match="swung anew"):
        prepare(job.with_body(pin_held=held), store)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda a, b: (a | {"push": np.full_like(a["push"], np.nan)}, b),
        lambda a, b: (a | {"push": a["push"][1:]}, b),
        lambda a, b: (a | {"displacements": a["displacements"][1:]}, b),
        lambda a, b: (a, b | {"scale": 0.0}),
        lambda a, b: (a, b | {"eigenvalue": "1"}),
    ],
)
def test_a_doubtful_swing_is_found_anew(job, store, spoil):
    good = prepare(job, store).matching
    arrays, about = store.read_cached("swing_slowest")
    store.write_cached("swing_slowest", *spoil(arrays, about))
    np.testing.assert_array_equal(prepare(job, store).matching.stiffness, good.stiffness)
    np.testing.assert_array_equal(store.read_cached("swing_slowest")[0]["push"], arrays["push"])


def diverge(*_arguments):
    raise DivergenceError("No number.", "None.")


@pytest.mark.parametrize(("name", "value"), [("TRIED", 10), ("reference_trajectory", diverge)])
def test_what_cannot_be_tried_is_told_from_its_vibrations(job, store, name, value, monkeypatch):
    monkeypatch.setattr(module, name, value)
    assert prepare(job, store).matching
    assert "Expected error" in store.match() and store.read_cached("swing_slowest") is None


def test_a_way_that_diverges_is_not_taken(monkeypatch):
    (model, space), matching = reduced(hold="clamped"), matched(hold="clamped")
    trial = ErrorTest([reference_trajectory(model, ())], space, ((), ()), space.basis)
    monkeypatch.setattr(trial_simulation, "_moved", diverge)
    assert trial.error_of(matching) == np.inf


def test_pins_are_at_rest_while_a_swing_is_tried(job, monkeypatch):
    """Wherever they are at the first frame."""
    seen = []
    monkeypatch.setattr(body_matching, "ErrorTest", lambda *each: seen.append(ErrorTest(*each)) or seen[-1])
    moved = job.with_body(pin_positions=job.body.pin_positions + np.array([0.3, -0.2, 0.5]))
    for each in (job, moved):
        prepare(each)
    assert seen[0].error_of() == pytest.approx(seen[1].error_of(), rel=1e-3)
