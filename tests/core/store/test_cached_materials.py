"""Material fields of the solver are read from the store, and nothing that does not fit together."""

import numpy as np
import pytest
from sinew.core.jobs.store.cached_materials import received
from sinew.core.jobs.store.frame_store import FrameStore
from sinew.core.simulation.frame_loop.bake import build_mesh
from sinew.core.simulation.preparation.prepare import prepare

from ..jobs import shaken_bar


@pytest.fixture(scope="module")
def job():
    return shaken_bar(frames=2)


@pytest.fixture
def store(tmp_path, job):
    store = FrameStore.create(tmp_path / "store", job)
    build_mesh(job, store)
    return store


def test_it_is_what_the_model_has(job, store):
    got, prepared = received(store), prepare(job)
    assert np.array_equal(got.mesh.tets, prepared.model.mesh.tets)
    assert np.abs(got.weights - prepared.modulus_blend.weights).max() < 1e-6
    assert got.names == tuple(material.name for material in job.body.materials)
    assert np.array_equal(got.object_to_world, job.body.object_to_world[0])
    assert (
        np.abs(got.embedding.apply(got.mesh.rest_positions, got.mesh.tets) - job.body.surface.positions).max() < 1e-12
    )
    moduli = [material.youngs_modulus for material in job.body.materials]
    assert moduli[0] in got.youngs_modulus and got.youngs_modulus.min() >= min(moduli)


def test_nothing_is_read_of_other_tetrahedra_or_of_damaged_arrays(store):
    cached, about = store.read_cached("materials")
    store.write_cached("materials", cached, {**about, "key": {**about["key"], "mesh": "another"}})
    assert received(store) is None
    for name, spoil in (
        ("youngs_modulus", lambda a: -a),
        ("weights", lambda a: a[:-1]),
        ("weights", lambda a: a * np.nan),
    ):
        store.write_cached("materials", {**cached, name: spoil(cached[name])}, about)
        assert received(store) is None
    store.write_cached("materials", cached, {**about, "names": ["One", 2]})
    assert received(store) is None
    store.write_cached("materials", cached, about)
    assert received(store) is not None


def test_before_there_are_tetrahedra_nothing_is_read(tmp_path, job):
    assert received(FrameStore.create(tmp_path / "store", job)) is None
