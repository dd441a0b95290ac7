"""The vibrations that a subspace is matched by are kept in the store of a bake, and found anew on any doubt."""

from __future__ import annotations

import shutil
from dataclasses import replace

import numpy as np
import pytest
from sinew.core.jobs.store import cached_spectra as module
from sinew.core.jobs.store.frame_store import FrameStore
from sinew.core.simulation.frame_loop.bake import bake
from sinew.core.simulation.preparation.prepare import prepare

from ..jobs import shaken_bar


@pytest.fixture(scope="module")
def job():
    return shaken_bar(frames=4, solver="subspace_mixed_fem", modes=4, cubature_points=40)


@pytest.fixture(scope="module")
def found(tmp_path_factory, job):
    """A store in which they were found, and they."""
    store = FrameStore.create(tmp_path_factory.mktemp("found") / "store", job)
    return store, spectra(job, store)


@pytest.fixture
def store(tmp_path, found):
    """A copy of it."""
    return FrameStore(shutil.copytree(found[0].folder, tmp_path / "store"))


def never(*_arguments):
    raise AssertionError("found anew")


def spectra(job, store=None):
    return prepare(job, store).matching.spectra


def test_they_are_found_once(job, store, found, monkeypatch):
    monkeypatch.setattr(module, "find_spectra", never)
    assert all(np.array_equal(a, b) for a, b in zip(found[1], spectra(job, store), strict=True))


@pytest.mark.parametrize(
    "other",
    [
        {"match_modes": 5},
        {"modes": 5},
        {"cubature_points": 60},
    ],
    ids=lambda other: next(iter(other)),
)
def test_other_settings_ask_for_others(job, store, other, monkeypatch):
    monkeypatch.setattr(module, "find_spectra", never)
    with pytest.raises(AssertionError, match="found anew"):
        spectra(job.with_body(solver=replace(job.body.solver, **other)), store)


def test_other_pins_ask_for_others(job, store, monkeypatch):
    """Pins that are released count as none."""
    held = np.ones_like(job.body.pin_held)
    held[3:] = False
    monkeypatch.setattr(module, "find_spectra", never)
    with pytest.raises(AssertionError, match="found anew"):
        spectra(job.with_body(pin_held=held), store)


def test_a_stiffer_body_keeps_them(job, store, found, monkeypatch):
    stiffer = job.with_body(
        materials=tuple(replace(each, youngs_modulus=1.7 * each.youngs_modulus) for each in job.body.materials)
    )
    find = module.find_spectra
    monkeypatch.setattr(module, "find_spectra", never)
    kept = spectra(stiffer, store)
    monkeypatch.setattr(module, "find_spectra", find)
    store.write_cached("spectra", {"coarse": kept.coarse}, {})
    anew = spectra(stiffer, store)
    np.testing.assert_allclose(kept.fine, 1.7 * found[1].fine, rtol=1e-12)
    np.testing.assert_allclose(kept.fine, anew.fine, rtol=1e-6)
    np.testing.assert_allclose(kept.coarse, anew.coarse, rtol=1e-6)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda a: a | {"fine": np.full_like(a["fine"], np.nan)},
        lambda a: a | {"modes": a["modes"][:, 1:]},
        lambda a: a | {"modes": a["modes"][1:]},
        lambda a: a | {"coarse": a["coarse"].astype("f4")},
        lambda a: a | {"overlap": a["overlap"].T.copy()},
        lambda a: a | {"overlap": a["overlap"][:, 1:]},
        lambda a: {name: each for name, each in a.items() if name != "overlap"},
        lambda a: a | {"more": np.zeros(3)},
    ],
)
def test_doubtful_arrays_are_refused(job, store, found, spoil):
    good = found[1]
    arrays, about = store.read_cached("spectra")
    store.write_cached("spectra", spoil(arrays), about)
    again = spectra(job, store)
    assert all(np.array_equal(a, b) for a, b in zip(good, again, strict=True))
    assert np.array_equal(store.read_cached("spectra")[0]["fine"], good.fine)


@pytest.mark.parametrize("scale", [0.0, -1.0, float("nan"), None, "1"])
def test_a_doubtful_scale_is_refused(job, store, found, scale):
    arrays, about = store.read_cached("spectra")
    store.write_cached("spectra", arrays, {**about, "scale": scale})
    assert np.array_equal(spectra(job, store).fine, found[1].fine)


def test_a_resumed_bake_has_the_same_bits(job, tmp_path, monkeypatch):
    whole = FrameStore.create(tmp_path / "whole", job)
    assert bake(job, whole) == "done"
    parted = FrameStore.create(tmp_path / "parted", job)
    assert bake(job, parted, should_stop=lambda: len(parted.frames()) >= 2) == "stopped"
    monkeypatch.setattr(module, "find_spectra", never)
    assert bake(job, FrameStore(parted.folder), resume=True) == "done"
    assert np.array_equal(whole.read(job.frame_end), parted.read(job.frame_end))
