"""The subspace of a bake is kept in its store, used again where it fits, and found anew on any doubt."""

from dataclasses import replace

import numpy as np
import pytest
from sinew.core.simulation import kept_subspace as module
from sinew.core.simulation.bake import bake
from sinew.core.simulation.frame_store import FrameStore
from sinew.core.simulation.kept_subspace import kept_subspace, subspace_key, unpack
from sinew.core.simulation.prepare import Stopped, prepare
from sinew.core.subspaces.reduced_model import STEPS

from .jobs import shaken_bar

MODES, POINTS = 4, 40


@pytest.fixture(scope="module")
def job():
    return shaken_bar(frames=3, solver="subspace_mixed_fem", modes=MODES, cubature_points=POINTS)


@pytest.fixture(scope="module")
def model(job):
    return prepare(job).model


@pytest.fixture
def store(tmp_path, job):
    return FrameStore.create(tmp_path / "store", job)


def never(*_arguments):
    raise AssertionError("found anew")


def test_it_is_found_once(model, store, monkeypatch):
    first, share, _ = kept_subspace(model, MODES, POINTS, store)
    monkeypatch.setattr(module, "find_subspace", never)
    monkeypatch.setattr(module, "felt_share", never)
    again, share_again, _ = kept_subspace(model, MODES, POINTS, FrameStore(store.folder))
    assert all(np.array_equal(a, b) for a, b in zip(first.parts, again.parts, strict=True))
    assert 0.0 < share == share_again
    with pytest.raises(AssertionError, match="found anew"):
        kept_subspace(model, MODES + 1, POINTS, store)


def test_what_it_is_found_from_is_in_its_key(job, model):
    keys = {subspace_key(model, *numbers) for numbers in ((MODES, POINTS), (MODES, POINTS + 1), (MODES + 1, POINTS))}
    softer = replace(job, materials=(replace(job.materials[0], youngs_modulus=2e4), *job.materials[1:]))
    keys.add(subspace_key(prepare(softer).model, MODES, POINTS))
    assert len(keys) == 4


@pytest.mark.parametrize(
    "spoil",
    [
        {"tets": lambda a: a + 10**6},
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
    parts = kept_subspace(model, MODES, POINTS, store)[0].parts._asdict()
    assert unpack(parts, model) is not None
    for name, change in spoil.items():
        assert unpack({**parts, name: np.asarray(change(parts[name]))}, model) is None
    del parts["tets"]
    assert unpack(parts, model) is None


def test_a_resumed_bake_goes_on_in_the_basis_that_it_was_begun_in(job, store, monkeypatch):
    prepared = prepare(job, store)
    monkeypatch.setattr(module, "find_subspace", never)
    again = prepare(job, FrameStore(store.folder))
    assert np.array_equal(again.space.basis, prepared.space.basis)


def phases(events):
    return [event for event in events if event.get("phase") == "subspace"]


def test_progress_is_told_step_by_step(job, store):
    events = []
    prepare(job, store, events.append)
    told = phases(events)
    done = [event["done"] for event in told]
    assert done == sorted(set(done)) and done[0] == 0 and done[-1] >= 75
    assert list(dict.fromkeys(event["step"] for event in told)) == list(STEPS)
    assert len(told) >= 12 and {event["total"] for event in told} == {100}


@pytest.mark.parametrize("step", STEPS)
def test_cancelled_in_any_step_it_leaves_the_store_as_it_was(job, model, store, step):
    kept, *_ = kept_subspace(model, MODES, POINTS, store)
    other, events = replace(job, solver=replace(job.solver, modes=MODES - 1)), []

    def should_stop():
        return bool(phases(events)) and phases(events)[-1]["step"] == step

    with pytest.raises(Stopped):
        prepare(other, store, events.append, should_stop)
    assert phases(events)[-1]["step"] == step
    arrays, _about = store.read_kept("subspace")
    assert all(np.array_equal(arrays[name], array) for name, array in kept.parts._asdict().items())


def test_a_bake_that_is_cancelled_while_it_prepares_says_so(job, store):
    events = []
    assert bake(job, store, events.append, lambda: bool(phases(events))) == "stopped"
    assert events[-1] == {"event": "stopped", "frame": None}
    assert store.read_kept("subspace") is None and not store.frames()
    assert bake(job, store) == "done"
