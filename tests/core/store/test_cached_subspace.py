"""The subspace of a bake is kept in its store, used again where it fits, and found anew on any doubt."""

from dataclasses import replace

import numpy as np
import pytest
from sinew.benchmarks.thin_bodies import hand
from sinew.core.foundation.events import Phase, StoppedAfter
from sinew.core.foundation.schema.settings import ResolutionSettings
from sinew.core.geometry.tetrahedra.tetrahedralize import tetrahedralize
from sinew.core.jobs.store import cached_subspace as module
from sinew.core.jobs.store.cached_subspace import cached_subspace, modes_key, unpack
from sinew.core.jobs.store.frame_store import FrameStore
from sinew.core.jobs.store.shared_cache import copy_cached_from
from sinew.core.methods.model.model import build_model
from sinew.core.methods.subspaces.cubature_check import ENOUGH
from sinew.core.methods.subspaces.reduced_model import POINTS_A_MODE, STEPS
from sinew.core.simulation.frame_loop.bake import bake
from sinew.core.simulation.preparation.prepare import Stopped, prepare

from ..jobs import shaken_bar

MODES, POINTS = 4, 40


@pytest.fixture(scope="module")
def job():
    return shaken_bar(frames=3, solver="subspace_mixed_fem", modes=MODES, cubature_points=POINTS)


@pytest.fixture(scope="module")
def model(job):
    return modelled(job)


def modelled(job):
    """Held at its end by springs and, for the sake of their handles, by hard pins in the middle."""
    model = prepare(job).model
    return replace(model, pinned=np.flatnonzero(np.abs(model.mesh.rest_positions[:, 0] - 0.2) < 0.03))


@pytest.fixture
def store(tmp_path, job):
    return FrameStore.create(tmp_path / "store", job)


def never(*_arguments):
    raise AssertionError("found anew")


def test_it_is_found_once(model, store, monkeypatch):
    first, share, _ = cached_subspace(model, MODES, POINTS, store)
    monkeypatch.setattr(module, "find_subspace", never)
    monkeypatch.setattr(module, "cubature_energy_fraction", never)
    again, share_again, _ = cached_subspace(model, MODES, POINTS, FrameStore(store.folder))
    assert all(np.array_equal(a, b) for a, b in zip(first.parts, again.parts, strict=True))
    assert 0.0 < share == share_again
    with pytest.raises(AssertionError, match="found anew"):
        cached_subspace(model, MODES + 1, POINTS, store)


def test_what_modes_are_found_from_is_in_their_key(job, model):
    softer = job.with_body(materials=(replace(job.body.materials[0], youngs_modulus=2e4), *job.body.materials[1:]))
    keys = {modes_key(model, MODES), modes_key(model, MODES + 1), modes_key(modelled(softer), MODES)}
    assert len(keys) == 3


def test_other_points_keep_the_modes(model, store, monkeypatch):
    first = cached_subspace(model, MODES, POINTS, store)[0].parts
    monkeypatch.setattr(module, "find_subspace", never)
    second = cached_subspace(model, MODES, 2 * POINTS, store)[0].parts
    assert len(second.elements) > len(first.elements) and np.array_equal(second.transform, first.transform)
    monkeypatch.setattr(module, "find_cubature", never)
    assert np.array_equal(cached_subspace(model, MODES, 2 * POINTS, store)[0].parts.elements, second.elements)


def fingers():
    """A hand that is held at its wrist."""
    mesh = tetrahedralize(hand(), ResolutionSettings(cells_across=16))
    y = mesh.rest_positions[:, 1]
    return build_model(mesh, 1e5, 0.45, 1e3, pinned=np.flatnonzero(y < y.min() + 0.2))


def test_thin_parts_get_more_points_where_their_number_is_automatic(store, monkeypatch):
    """Twice or four times as many until low movements feel enough, and none are sought again in a store that has them;
    a number that is set stays.
    """
    model, first = fingers(), POINTS_A_MODE * MODES
    few, share, _ = cached_subspace(model, MODES, first, None)
    assert len(few.parts.elements) <= first and share < ENOUGH
    more, felt, _ = cached_subspace(model, MODES, 0, store)
    assert 1.9 * first < len(more.parts.elements) <= 4 * first and (
        felt >= ENOUGH or len(more.parts.elements) > 3.8 * first
    )
    assert felt > share and np.array_equal(more.parts.transform, few.parts.transform)
    monkeypatch.setattr(module, "find_cubature", never)
    assert np.array_equal(cached_subspace(model, MODES, 0, store)[0].parts.elements, more.parts.elements)
    thick = modelled(shaken_bar(frames=3))
    assert len(cached_subspace(thick, MODES, 0, None)[0].parts.elements) <= first


def test_a_body_that_is_stiffer_throughout_keeps_all(job, model, store, monkeypatch):
    first = cached_subspace(model, MODES, POINTS, store)[0].parts
    stiffer = tuple(replace(each, youngs_modulus=1.7 * each.youngs_modulus) for each in job.body.materials)
    other = modelled(job.with_body(materials=stiffer))
    anew = cached_subspace(other, MODES, POINTS, None)[0].parts
    for name in ("find_subspace", "find_cubature", "cubature_energy_fraction"):
        monkeypatch.setattr(module, name, never)
    parts = cached_subspace(other, MODES, POINTS, store)[0].parts
    assert np.array_equal(parts.elements, first.elements) and np.array_equal(parts.transform, first.transform)
    np.testing.assert_allclose(parts.eigenvalues, 1.7 * first.eigenvalues, rtol=1e-12)
    np.testing.assert_allclose(parts.eigenvalues, anew.eigenvalues, rtol=1e-7)


def test_stores_lend_what_the_other_lacks(job, model, store, tmp_path, monkeypatch):
    lender, outdated = (FrameStore.create(tmp_path / name, job) for name in ("lender", "outdated"))
    for each, modes in ((lender, MODES), (outdated, MODES + 1)):
        prepare(job.with_body(solver=replace(job.body.solver, modes=modes)), each)
    copy_cached_from(store, [outdated, lender], MODES)
    copy_cached_from(outdated, [store], MODES)
    for each in (store, outdated):
        assert each.read_cached("subspace")[1] == lender.read_cached("subspace")[1]
    assert np.array_equal(store.read_cached("mesh")[0]["tets"], lender.read_cached("mesh")[0]["tets"])
    monkeypatch.setattr(FrameStore, "read_cached", never)
    copy_cached_from(store, [outdated], MODES)  # it has all, and reads no more than the number of modes


@pytest.mark.parametrize(
    "spoil",
    [
        {"elements": lambda a: a + 10**6},
        {"clusters": lambda a: a - 1},
        {"weights": lambda a: np.full_like(a, np.nan)},
        {"weights": lambda a: a[:-1]},
        {"transform": lambda a: a[1:]},
        {"pin_group": lambda a: a + 100},
        {"volumes": lambda a: -a},
        {"volumes": lambda a: np.float64(1.0)},
        {"islands": lambda a: a.astype(float)},
    ],
    ids=lambda spoil: next(iter(spoil)),
)
def test_doubtful_arrays_are_refused(model, store, spoil):
    parts = cached_subspace(model, MODES, POINTS, store)[0].parts._asdict()
    assert unpack(parts, model) is not None
    for name, change in spoil.items():
        assert unpack({**parts, name: np.asarray(change(parts[name]))}, model) is None
    del parts["elements"]
    assert unpack(parts, model) is None


def test_a_resumed_bake_goes_on_in_the_basis_that_it_was_begun_in(job, store, monkeypatch):
    prepared = prepare(job, store)
    monkeypatch.setattr(module, "find_subspace", never)
    again = prepare(job, FrameStore(store.folder))
    assert np.array_equal(again.space.basis, prepared.space.basis)


def phases(events):
    return [event for event in events if isinstance(event, Phase) and event.phase == "subspace"]


def test_progress_is_told_step_by_step(job, store):
    events = []
    prepare(job, store, events.append)
    told = phases(events)
    done = [event.done for event in told]
    assert done == sorted(set(done)) and done[0] == 0 and done[-1] >= 75
    assert list(dict.fromkeys(event.step for event in told)) == [*STEPS, "vibrations"]
    assert len(told) >= 12 and {event.total for event in told} == {100}


@pytest.mark.parametrize("step", STEPS)
def test_cancelled_in_any_step_it_leaves_the_store_as_it_was(job, model, store, step):
    cached, *_ = cached_subspace(model, MODES, POINTS, store)
    other, events = job.with_body(solver=replace(job.body.solver, modes=MODES - 1)), []

    def should_stop():
        return bool(phases(events)) and phases(events)[-1].step == step

    with pytest.raises(Stopped):
        prepare(other, store, events.append, should_stop)
    assert phases(events)[-1].step == step
    arrays, _about = store.read_cached("subspace")
    assert all(np.array_equal(arrays[name], array) for name, array in cached.parts._asdict().items())


def test_a_bake_that_is_cancelled_while_it_prepares_says_so(job, store):
    events = []
    assert bake(job, store, events.append, lambda: bool(phases(events))) == "stopped"
    assert events[-1] == StoppedAfter(None)
    assert store.read_cached("subspace") is None and not store.frames()
    assert bake(job, store) == "done"
