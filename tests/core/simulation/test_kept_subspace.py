"""The subspace of a bake is kept in its store, used again where it fits, and found anew on any doubt."""

from dataclasses import replace

import numpy as np
import pytest
from sinew.core.simulation import kept_subspace as module
from sinew.core.simulation.frame_store import FrameStore
from sinew.core.simulation.kept_subspace import kept_subspace, subspace_key, unpack
from sinew.core.simulation.prepare import prepare

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
    first = kept_subspace(model, MODES, POINTS, store)
    monkeypatch.setattr(module, "find_subspace", never)
    again = kept_subspace(model, MODES, POINTS, FrameStore(store.folder))
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
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
    parts = kept_subspace(model, MODES, POINTS, store)._asdict()
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
