"""Jobs travel through a file unchanged, refuse nonsense, and know what changed."""

from __future__ import annotations

import io
import json
import os
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from sinew.core.errors import MaterialError, PinError, SettingsError, SinewError, StoreError
from sinew.core.materials.layer import Layer
from sinew.core.mesh.surface_mesh import SurfaceMesh
from sinew.core.model.settings import DepthSettings, MaterialSettings, ResolutionSettings, SolverSettings
from sinew.core.simulation.job import Job
from sinew.core.simulation.job_changes import details

from .jobs import box_surface, shaken_bar, surrounded_bar

FRAME_RANGE_1_TO_12 = "249fb120d2d145d569dfdc13177a1c9e2e6252aa62ff51ccb1e021900d5f96f6"


def test_a_saved_job_comes_back_equal(tmp_path):
    job = surrounded_bar()
    map_ = np.linspace(0.0, 1.0, len(job.surface.positions))
    layers = (Layer(1, (box_surface(), box_surface())), Layer(0, (), DepthSettings("core", 0.2, 0.1), map_))
    ranged = (job.materials[0], replace(job.materials[1], painted_modulus=1e7))
    job = replace(job, layers=layers, materials=ranged, stiffness_maps=np.column_stack([map_, map_]))
    job.save(tmp_path / "job.npz")
    again = Job.load(tmp_path / "job.npz")
    assert again.fingerprints() == job.fingerprints()
    assert again.solver == job.solver
    assert again.materials == job.materials
    assert again.frame_rate == job.frame_rate
    assert again.ground == job.ground and again.colliders[0].numbers() == job.colliders[0].numbers()
    assert again.springs[0].name == "Hook" and np.array_equal(again.accelerations, job.accelerations)
    assert np.array_equal(again.layers[0].surfaces[1].triangles, layers[0].surfaces[1].triangles)
    assert again.layers[1].depth == layers[1].depth and np.array_equal(again.layers[1].map, map_)
    assert np.array_equal(again.stiffness_maps, job.stiffness_maps)


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("mesh", lambda j: {"surface": SurfaceMesh(j.surface.positions + 0.01, j.surface.triangles)}),
        ("materials", lambda j: {"material_weights": j.material_weights * 0.5}),
        ("materials", lambda j: {"stiffness_maps": j.stiffness_maps + 0.5}),
        ("materials", lambda j: {"materials": (replace(j.materials[0], painted_modulus=1e9), *j.materials[1:])}),
        ("materials", lambda j: {"layers": (Layer(1, (), DepthSettings("shell", 0.1)),)}),
        ("materials", lambda j: {"layers": (Layer(1, (j.surface,)),)}),
        ("materials", lambda j: {"layers": (Layer(1, (), None, np.ones(len(j.surface.positions))),)}),
        ("resolution", lambda j: {"resolution": ResolutionSettings(cells_across=9)}),
        ("solver", lambda j: {"solver": SolverSettings(substeps=2)}),
        ("animation", lambda j: {"pin_positions": j.pin_positions + 1.0}),
        ("pins", lambda j: {"pin_held": None}),
        ("springs", lambda j: {"springs": ()}),
        ("springs", lambda j: {"springs": (replace(j.springs[0], stiffness=j.springs[0].stiffness + 1.0),)}),
        ("collisions", lambda j: {"ground": None}),
        ("collisions", lambda j: {"ground": replace(j.ground, friction=0.1)}),
        ("collisions", lambda j: {"colliders": (replace(j.colliders[0], friction=0.1),)}),
        ("collisions", lambda j: {"colliders": (replace(j.colliders[0], positions=j.colliders[0].positions + 1.0),)}),
        ("fields", lambda j: {"accelerations": j.accelerations + 1.0}),
        ("fields", lambda j: {"accelerations": None}),
    ],
)
def test_fingerprints_name_the_part_that_changed(part, change):
    job = surrounded_bar()
    changed = replace(job, **change(job))
    before, after = job.fingerprints(), changed.fingerprints()
    assert [name for name in before if before[name] != after[name]] == [part]


def test_fingerprints_are_the_same_on_every_system():
    """Frames that were baked on Windows are rendered on Linux. (NumPy before 2.0 has other integers on Windows.)"""
    assert surrounded_bar().fingerprints()["frame range"] == FRAME_RANGE_1_TO_12


@pytest.mark.parametrize("content", [b"", b"not a job", b"PK\x03\x04 torn"])
def test_a_file_that_is_no_job_is_refused(tmp_path, content):
    (tmp_path / "job.npz").write_bytes(content)
    with pytest.raises(StoreError, match=r"job\.npz"):
        Job.load(tmp_path / "job.npz")


def test_a_job_with_pickled_objects_is_refused(tmp_path):
    np.savez(tmp_path / "job.npz", settings=np.array([{"format": 1}], dtype=object))
    with pytest.raises(StoreError):
        Job.load(tmp_path / "job.npz")


class Shape(tuple):
    """What a header says of an array, without the array."""


def write_npz(path, change=None, settings=None, compression=zipfile.ZIP_STORED):
    """A job's file, with members replaced by bytes, or by headers that claim a shape."""
    shaken_bar().save(path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    if settings is not None:
        with io.BytesIO(members["settings.npy"]) as file:
            before = json.loads(np.load(file).tobytes())
        text = settings if isinstance(settings, str) else json.dumps({**before, **settings})
        file = io.BytesIO()
        np.save(file, np.frombuffer(text.encode(), dtype=np.uint8))
        members["settings.npy"] = file.getvalue()
    for name, content in (change or {}).items():
        if isinstance(content, Shape):
            file = io.BytesIO()
            np.lib.format.write_array_header_1_0(
                file, {"descr": "<f8", "fortran_order": False, "shape": tuple(content)}
            )
            content = file.getvalue() + bytes(240)
        members[f"{name}.npy"] = content
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


@pytest.mark.parametrize(
    "crafted",
    [
        {"change": {"positions": Shape((10**12, 3))}},
        {"change": {"positions": Shape((2**40, 2**40))}},
        {"change": {"positions": Shape((-10, 3))}},
        {"change": {"positions": Shape((9, 3))}},
        {"change": {"positions": b"\x93NUMPY\x01\x00"}},
        {"change": {"positions": b"\x93NUMPY\x09\x00"}},
        {"change": {"positions": b"\x93NUMPY\x01\x00\xff\x1f" + b"(" * 8191}},
        {"change": {"positions": b"\x93NUMPY\x01\x00\xff\x1f" + b"-" * 8190 + b"1"}},
        {"compression": zipfile.ZIP_DEFLATED},
        {"settings": "[" * 100_000},
        {"settings": "[]"},
        {"settings": {"format": 99}},
        {"settings": {"frames": []}},
        {"settings": {"frames": [1.0, 12.0]}},
        {"settings": {"frames": [1, 1e999]}},
        {"settings": {"materials": [3]}},
        {"settings": {"solver": None}},
        {"settings": {"frame_rate": "fast"}},
        {"settings": {"layers": [{"material": 0, "surfaces": 1, "depth": None}]}},
        {"settings": {"frame_rate": True}},
        {"settings": {"springs": [1]}},
        {"settings": {"springs": 3}},
        {"settings": {"colliders": [{"name": "a"}]}},
        {"settings": {"colliders": ["a"]}},
        {"settings": {"ground": {"depth": 1.0}}},
        {"change": {"pin_held": b"\x93NUMPY\x01\x00"}},
    ],
)
def test_a_crafted_job_is_refused_without_taking_memory(tmp_path, crafted):
    write_npz(tmp_path / "job.npz", **crafted)
    with pytest.raises(StoreError, match=r"job\.npz"):
        Job.load(tmp_path / "job.npz")


def test_arrays_in_either_order_come_back(tmp_path):
    write_npz(tmp_path / "job.npz")
    assert Job.load(tmp_path / "job.npz").fingerprints() == shaken_bar().fingerprints()
    file = io.BytesIO()
    np.save(file, np.asfortranarray(shaken_bar().surface.positions))
    write_npz(tmp_path / "job.npz", {"positions": file.getvalue()})
    assert Job.load(tmp_path / "job.npz").fingerprints() == shaken_bar().fingerprints()


def test_a_failing_save_leaves_the_old_job(tmp_path, monkeypatch):
    path = tmp_path / "job.npz"
    shaken_bar().save(path)
    before = path.read_bytes()

    def full(*_arguments):
        raise OSError(28, "No space left on device")

    for name in ("fsync", "replace"):
        with monkeypatch.context() as patched:
            patched.setattr(os, name, full)
            with pytest.raises(StoreError, match="No space left") as raised:
                shaken_bar(frames=3).save(path)
        assert raised.value.remedy
        assert [p.name for p in tmp_path.iterdir()] == ["job.npz"]
        assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("error", "make"),
    [
        (SettingsError, lambda: replace(shaken_bar(), frame_end=0)),
        (SettingsError, lambda: replace(shaken_bar(), frame_rate=0.0)),
        (SettingsError, lambda: replace(shaken_bar(), frame_rate=1e-320)),
        (SettingsError, lambda: replace(shaken_bar(), frame_rate=True)),
        (SettingsError, lambda: replace(shaken_bar(), materials=())),
        (SettingsError, lambda: replace(shaken_bar(), material_weights=np.full((90, 2), np.nan))),
        (PinError, lambda: replace(shaken_bar(), pinned_vertices=np.full(9, 10**6))),
        (PinError, lambda: replace(shaken_bar(), pin_positions=np.full((12, 9, 3), np.inf))),
        (PinError, lambda: replace(shaken_bar(), pinned_vertices=np.zeros((9, 1)))),
        (PinError, lambda: replace(shaken_bar(), pin_positions=np.zeros((8, 3)))),
        (SettingsError, lambda: replace(shaken_bar(), object_to_world=np.full((12, 4, 4), np.nan))),
        (SettingsError, lambda: replace(shaken_bar(), pre_roll=12)),
        (SettingsError, lambda: replace(shaken_bar(), layers=(Layer(True),))),
        (MaterialError, lambda: replace(shaken_bar(), materials=2 * (MaterialSettings(energy="magic"),)).check()),
        (SettingsError, lambda: shaken_bar(solver="magic").check()),
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


def test_still_pins_are_given_once():
    job = shaken_bar()
    rest = job.surface.positions[job.pinned_vertices]
    still = replace(job, pin_positions=rest)
    assert still.fingerprints() == replace(job, pin_positions=np.tile(rest, (12, 1, 1))).fingerprints()


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("object_to_world", np.full((12, 4, 4), np.nan)),
        ("pinned_vertices", np.zeros((9, 1), dtype=np.int32)),
        ("triangles", np.zeros((9, 4), dtype=np.int32)),
        ("positions", np.zeros((90, 3, 1))),
        ("pin_held", np.ones((12, 9, 1), dtype=bool)),
    ],
)
def test_a_job_file_whose_arrays_are_odd_is_refused_by_name(tmp_path, name, array):
    file = io.BytesIO()
    np.save(file, array)
    write_npz(tmp_path / "job.npz", {name: file.getvalue()})
    with pytest.raises(SinewError) as raised:
        Job.load(tmp_path / "job.npz")
    assert raised.value.remedy


def test_what_is_painted_finer_belongs_to_the_resolution(tmp_path):
    job = shaken_bar()
    paint = np.linspace(0.0, 1.0, len(job.surface.positions))
    finer = replace(job, fineness=paint)
    finer.save(tmp_path / "job.npz")
    back = Job.load(tmp_path / "job.npz")
    assert np.array_equal(back.fineness, paint) and back.fingerprints() == finer.fingerprints()
    changed = {part for part, words in finer.fingerprints().items() if words != job.fingerprints()[part]}
    assert changed == {"resolution"} and finer.until(job.frame_start).fineness is not None
    other = ResolutionSettings(cells_across=job.resolution.cells_across, finest=3.0)
    assert replace(job, resolution=other).fingerprints() == job.fingerprints()  # nothing is painted
    assert replace(finer, resolution=other).fingerprints() != finer.fingerprints()
    assert details("resolution", job, finer) == ["where it is finer"]
    assert details("resolution", finer, replace(finer, resolution=other)) == ["finer by 2 → 3"]
    with pytest.raises(SettingsError, match="painted finer"):
        replace(job, fineness=paint[1:])
