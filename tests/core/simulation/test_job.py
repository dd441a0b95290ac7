"""Jobs travel through a file unchanged, refuse nonsense, and know what changed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sinew.core.errors import MaterialError, PinError, SettingsError, SinewError, StoreError
from sinew.core.mesh.surface_mesh import SurfaceMesh
from sinew.core.model.settings import MaterialSettings, ResolutionSettings, SolverSettings
from sinew.core.simulation.job import Job, Region

from .jobs import box_surface, shaken_bar


def test_a_saved_job_comes_back_equal(tmp_path):
    job = replace(shaken_bar(), regions=(Region(box_surface(), 1),))
    job.save(tmp_path / "job.npz")
    again = Job.load(tmp_path / "job.npz")
    assert again.fingerprints() == job.fingerprints()
    assert again.solver == job.solver
    assert again.materials == job.materials
    assert again.frame_rate == job.frame_rate
    assert np.array_equal(again.regions[0].surface.triangles, job.regions[0].surface.triangles)


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("mesh", lambda j: {"surface": SurfaceMesh(j.surface.positions + 0.01, j.surface.triangles)}),
        ("materials", lambda j: {"material_weights": j.material_weights * 0.5}),
        ("resolution", lambda j: {"resolution": ResolutionSettings(cells_across=9)}),
        ("solver", lambda j: {"solver": SolverSettings(substeps=2)}),
        ("animation", lambda j: {"pin_positions": j.pin_positions + 1.0}),
    ],
)
def test_fingerprints_name_the_part_that_changed(part, change):
    job = shaken_bar()
    changed = replace(job, **change(job))
    before, after = job.fingerprints(), changed.fingerprints()
    assert [name for name in before if before[name] != after[name]] == [part]


@pytest.mark.parametrize("content", [b"", b"not a job", b"PK\x03\x04 torn"])
def test_a_file_that_is_no_job_is_refused(tmp_path, content):
    (tmp_path / "job.npz").write_bytes(content)
    with pytest.raises(StoreError, match=r"job\.npz"):
        Job.load(tmp_path / "job.npz")


def test_a_job_with_pickled_objects_is_refused(tmp_path):
    np.savez(tmp_path / "job.npz", settings=np.array([{"format": 1}], dtype=object))
    with pytest.raises(StoreError):
        Job.load(tmp_path / "job.npz")


@pytest.mark.parametrize(
    ("error", "make"),
    [
        (SettingsError, lambda: replace(shaken_bar(), frame_end=0)),
        (SettingsError, lambda: replace(shaken_bar(), frame_rate=0.0)),
        (SettingsError, lambda: replace(shaken_bar(), materials=())),
        (SettingsError, lambda: replace(shaken_bar(), material_weights=np.full((90, 2), np.nan))),
        (PinError, lambda: replace(shaken_bar(), pinned_vertices=np.full(9, 10**6))),
        (PinError, lambda: replace(shaken_bar(), pin_positions=np.full((12, 9, 3), np.inf))),
        (MaterialError, lambda: MaterialSettings(poissons_ratio=0.5)),
        (MaterialError, lambda: MaterialSettings(youngs_modulus=0.0)),
        (MaterialError, lambda: MaterialSettings(youngs_modulus=float("nan"))),
        (MaterialError, lambda: MaterialSettings(density=-1.0)),
        (SettingsError, lambda: ResolutionSettings(cells_across=1)),
        (SettingsError, lambda: ResolutionSettings(method="magic")),
        (SettingsError, lambda: SolverSettings(substeps=0)),
        (SettingsError, lambda: SolverSettings(gravity=(0.0, 0.0, float("nan")))),
    ],
)
def test_nonsense_is_refused_with_a_remedy(error, make):
    with pytest.raises(error) as raised:
        make()
    assert isinstance(raised.value, SinewError)
    assert raised.value.remedy
