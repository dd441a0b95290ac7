"""An energy that has a parameter of its own: from the scene file and the job file to its kernels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sinew.core.foundation.errors import MaterialError
from sinew.core.foundation.schema.settings import MaterialSettings
from sinew.core.jobs.job.job import Job
from sinew.core.jobs.job.job_changes import details
from sinew.core.jobs.scene_files.scene_file import read_scene
from sinew.core.mechanics.energies.registry import ENERGIES
from sinew.core.mechanics.materials.fields import blend
from sinew.core.methods.model.model import build_model
from sinew.core.simulation.preparation.prepare import prepare

from ..jobs import shaken_bar

TOY = replace(ENERGIES["arap"], name="toy", own=("stiffening",))


@pytest.fixture(autouse=True)
def _registered(monkeypatch):
    monkeypatch.setitem(ENERGIES, TOY.name, TOY)


def toys(*numbers, energy=TOY.name):
    return tuple(MaterialSettings(str(x), energy=energy, stiffening=x) for x in numbers)


def test_it_is_read_from_a_scene_file_and_reaches_the_tets(tmp_path):
    bar = shaken_bar().body.surface
    np.savez(tmp_path / "bar.npz", positions=bar.positions, triangles=bar.triangles)
    (tmp_path / "scene.toml").write_text('mesh = "bar.npz"\n[[material]]\nenergy = "toy"\nstiffening = 3\n')
    model = prepare(read_scene(tmp_path / "scene.toml")).model
    assert (model.elastic.parameters[:, 2] == 3.0).all()
    twice = model.elastic.scaled(np.full(len(model.elements), 2.0))
    assert (twice.parameters[:, 2] == 3.0).all()
    np.testing.assert_array_equal(twice.youngs_modulus, 2.0 * model.elastic.youngs_modulus)


def test_it_is_kept_in_a_job_file_and_told_when_it_changes(tmp_path):
    job = shaken_bar().with_body(materials=toys(1.0, 2.0))
    job.save(tmp_path / "job.npz")
    assert Job.load(tmp_path / "job.npz").body.materials == job.body.materials
    other = job.with_body(materials=(replace(job.body.materials[0], stiffening=4.0), job.body.materials[1]))
    assert job.fingerprints()["materials"] != other.fingerprints()["materials"]
    assert details("materials", job, other) == ["“1.0”: stiffening 1 → 4"]


def test_it_is_blended_between_materials_of_the_same_energy_alone():
    weights = np.array([[0.5, 0.25, 0.25], [0.4, 0.1, 0.5], [0.0, 1.0, 0.0], [0.3, 0.6, 0.1]])
    fields = blend(weights, (*toys(1.0, 4.0), *toys(2.0, energy="corotated")))
    np.testing.assert_allclose(fields.own.ravel(), [2.0, 0.0, 4.0, 3.0], atol=1e-15)
    same = blend(np.random.default_rng(1).dirichlet(np.ones(3), 100), toys(0.7, 0.7, 0.7))
    assert (same.own == 0.7).all()


def test_what_it_takes_is_asked_for():
    mesh = prepare(shaken_bar()).model.mesh
    assert (build_model(mesh, 1e5, 0.4, 1e3, energies="toy").elastic.parameters[:, 2] == 0.5).all()
    with pytest.raises(MaterialError, match="energy parameters"):
        build_model(mesh, 1e5, 0.4, 1e3, energies="toy", own=np.zeros((len(mesh.tets), 2)))
