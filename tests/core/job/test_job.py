"""Jobs travel through a file unchanged, refuse nonsense, and know what changed."""

from __future__ import annotations

import io
import json
import os
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from sinew.core.foundation.errors import MaterialError, PinError, SettingsError, SinewError, StoreError
from sinew.core.foundation.schema.field_metadata import equal_fields, map_tracks
from sinew.core.foundation.schema.settings import DepthSettings, MaterialSettings, ResolutionSettings, SolverSettings
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
from sinew.core.jobs.job.environment import Ground
from sinew.core.jobs.job.job import Job
from sinew.core.jobs.job.job_changes import details
from sinew.core.jobs.job.pair import PairSettings
from sinew.core.mechanics.materials.layer import Layer

from ..jobs import box_surface, changed, shaken_bar, surrounded_bar

FRAME_RANGE_1_TO_12 = "b29d1e36a859caa5e347f1f60ade57a28a947e9f81ed83214e9a5ca84594918b"


def test_a_saved_job_comes_back_equal(tmp_path):
    job = surrounded_bar()
    map_ = np.linspace(0.0, 1.0, len(job.body.surface.positions))
    layers = (Layer(1, (box_surface(), box_surface())), Layer(0, (), DepthSettings("core", 0.2, 0.1), map_))
    ranged = (job.body.materials[0], replace(job.body.materials[1], painted_modulus=1e7))
    pairs = PairSettings("Plate", 0.1), PairSettings("Ground", thickness=0.02)
    job = job.with_body(layers=layers, materials=ranged, stiffness_maps=np.column_stack([map_, map_]), pairs=pairs)
    job.save(tmp_path / "job.npz")
    again = Job.load(tmp_path / "job.npz")
    assert again.fingerprints() == job.fingerprints()
    assert again.body.solver == job.body.solver
    assert again.body.materials == job.body.materials and again.body.pairs == pairs
    assert again.frame_rate == job.frame_rate
    assert again.body.colliders[0] == job.body.colliders[0] == Ground(height=-1.0) and equal_fields(
        again.body.colliders, job.body.colliders
    )
    assert again.body.springs[0].name == "Hook" and np.array_equal(again.body.accelerations, job.body.accelerations)
    assert np.array_equal(again.body.layers[0].surfaces[1].triangles, layers[0].surfaces[1].triangles)
    assert again.body.layers[1].depth == layers[1].depth and np.array_equal(again.body.layers[1].map, map_)
    assert np.array_equal(again.body.stiffness_maps, job.body.stiffness_maps)


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("mesh", lambda j: {"surface": SurfaceMesh(j.surface.positions + 0.01, j.surface.triangles)}),
        ("materials", lambda j: {"material_weights": j.material_weights * 0.5}),
        ("materials", lambda j: {"stiffness_maps": j.stiffness_maps + 0.5}),
        (
            "materials",
            lambda j: {"materials": (replace(j.materials[0], painted_modulus=1e9), *j.materials[1:])},
        ),
        ("materials", lambda j: {"layers": (Layer(1, (), DepthSettings("shell", 0.1)),)}),
        ("materials", lambda j: {"layers": (Layer(1, (j.surface,)),)}),
        ("materials", lambda j: {"layers": (Layer(1, (), None, np.ones(len(j.surface.positions))),)}),
        ("resolution", lambda j: {"resolution": ResolutionSettings(cells_across=9)}),
        ("solver", lambda j: {"solver": SolverSettings(substeps=2)}),
        ("animation", lambda j: {"pin_positions": j.pin_positions + 1.0}),
        ("pins", lambda j: {"pin_held": None}),
        ("springs", lambda j: {"springs": ()}),
        ("springs", lambda j: {"springs": (replace(j.springs[0], stiffness=j.springs[0].stiffness + 1.0),)}),
        ("collisions", lambda j: {"colliders": j.colliders[1:]}),
        ("collisions", lambda j: {"colliders": (replace(j.colliders[0], friction=0.1), j.colliders[1])}),
        ("collisions", lambda j: {"colliders": (j.colliders[0], replace(j.colliders[1], friction=0.1))}),
        (
            "collisions",
            lambda j: {"colliders": (j.colliders[0], map_tracks(j.colliders[1], lambda track: track + 1.0))},
        ),
        ("collisions", lambda j: {"pairs": (PairSettings("Plate", 0.1),)}),
        ("fields", lambda j: {"accelerations": j.accelerations + 1.0}),
        ("fields", lambda j: {"accelerations": None}),
    ],
)
def test_fingerprints_name_the_part_that_changed(part, change):
    job = surrounded_bar()
    before, after = job.fingerprints(), changed(job, **change(job.body)).fingerprints()
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
    """Header of an array, without the array."""


def write_npz(path, change=None, settings=None, whole=None, missing="", compression=zipfile.ZIP_STORED):
    """A job's file, with members of its body replaced by bytes, or by headers that claim a shape, or missing."""
    shaken_bar().save(path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members.pop(f"bodies.0.{missing}.npy", None)
    if settings is not None or whole is not None:
        with io.BytesIO(members["settings.npy"]) as file:
            before = json.loads(np.load(file).tobytes())
        clock = {name: value for name, value in (whole or {}).items() if name in Job.__dataclass_fields__}
        bodies = [{**before["whole"]["bodies"][0], **{k: v for k, v in (whole or {}).items() if k not in clock}}]
        crafted = {**before, "whole": {**before["whole"], "bodies": bodies, **clock}}
        text = settings if isinstance(settings, str) else json.dumps({**crafted, **(settings or {})})
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
        members[f"bodies.0.{name}.npy"] = content
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


@pytest.mark.parametrize(
    "crafted",
    [
        {"change": {"surface.positions": Shape((10**12, 3))}},
        {"change": {"surface.positions": Shape((2**40, 2**40))}},
        {"change": {"surface.positions": Shape((-10, 3))}},
        {"change": {"surface.positions": Shape((9, 3))}},
        {"change": {"surface.positions": b"\x93NUMPY\x01\x00"}},
        {"change": {"surface.positions": b"\x93NUMPY\x09\x00"}},
        {"change": {"surface.positions": b"\x93NUMPY\x01\x00\xff\x1f" + b"(" * 8191}},
        {"change": {"surface.positions": b"\x93NUMPY\x01\x00\xff\x1f" + b"-" * 8190 + b"1"}},
        {"compression": zipfile.ZIP_DEFLATED},
        {"settings": "[" * 100_000},
        {"settings": "[]"},
        {"settings": {"format": 99}},
        {"whole": {"bodies": 3}},
        {"whole": {"bodies": [3]}},
        {"whole": {"frame_start": None}},
        {"whole": {"frame_start": 1.0}},
        {"whole": {"frame_end": 1e999}},
        {"whole": {"unheard": 1}},
        {"whole": {"materials": [3]}},
        {"whole": {"solver": None}},
        {"whole": {"frame_rate": "fast"}},
        {"whole": {"layers": [{"material": 0, "surfaces": [{}], "depth": None, "map": None}]}},
        {"whole": {"layers": [{"material": 0.0, "surfaces": [], "depth": None, "map": None}]}},
        {"whole": {"frame_rate": True}},
        {"whole": {"springs": [1]}},
        {"whole": {"springs": 3}},
        {"whole": {"colliders": [{"name": "a"}]}},
        {"whole": {"colliders": ["a"]}},
        {"whole": {"colliders": [{"class": "Ground", "depth": 1.0}]}},
        {"whole": {"colliders": [{"class": "Job"}]}},
        {"whole": {"colliders": [{"class": []}]}},
        {"missing": "pin_held", "whole": {"pin_held": None, "frame_end": 10**12}},
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
    np.save(file, np.asfortranarray(shaken_bar().body.surface.positions))
    write_npz(tmp_path / "job.npz", {"surface.positions": file.getvalue()})
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
        (SettingsError, lambda: shaken_bar().with_body(materials=())),
        (SettingsError, lambda: shaken_bar().with_body(material_weights=np.full((90, 2), np.nan))),
        (PinError, lambda: shaken_bar().with_body(pinned_vertices=np.full(9, 10**6))),
        (PinError, lambda: shaken_bar().with_body(pin_positions=np.full((12, 9, 3), np.inf))),
        (PinError, lambda: shaken_bar().with_body(pinned_vertices=np.zeros((9, 1)))),
        (PinError, lambda: shaken_bar().with_body(pin_positions=np.zeros((8, 3)))),
        (SettingsError, lambda: shaken_bar().with_body(object_to_world=np.full((12, 4, 4), np.nan))),
        (SettingsError, lambda: replace(shaken_bar(), pre_roll=12)),
        (SettingsError, lambda: PairSettings("A", friction=-0.1)),
        (SettingsError, lambda: PairSettings("A", thickness="far")),
        (SettingsError, lambda: PairSettings("")),
        (SettingsError, lambda: shaken_bar().with_body(pairs=(PairSettings("A"), PairSettings("A", 0.1)))),
        (SettingsError, lambda: shaken_bar().with_body(name="A", pairs=(PairSettings("A", 0.1),))),
        (MaterialError, lambda: Layer(True)),
        (MaterialError, lambda: shaken_bar().with_body(materials=2 * (MaterialSettings(energy="magic"),)).check()),
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
    rest = job.body.surface.positions[job.body.pinned_vertices]
    still = job.with_body(pin_positions=rest)
    assert still.fingerprints() == job.with_body(pin_positions=np.tile(rest, (12, 1, 1))).fingerprints()


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("object_to_world", np.full((12, 4, 4), np.nan)),
        ("pinned_vertices", np.zeros((9, 1), dtype=np.int32)),
        ("surface.triangles", np.zeros((9, 4), dtype=np.int32)),
        ("surface.positions", np.zeros((90, 3, 1))),
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


def test_still_pins_in_a_crafted_file_take_no_memory(tmp_path):
    file = io.BytesIO()
    np.save(file, np.zeros((9, 3)))
    write_npz(tmp_path / "job.npz", {"pin_positions": file.getvalue()}, whole={"frame_end": 10**12})
    with pytest.raises(SinewError):
        Job.load(tmp_path / "job.npz")


def test_what_is_painted_finer_belongs_to_the_resolution(tmp_path):
    job = shaken_bar()
    paint = np.linspace(0.0, 1.0, len(job.body.surface.positions))
    finer = job.with_body(refinement=paint)
    finer.save(tmp_path / "job.npz")
    back = Job.load(tmp_path / "job.npz")
    assert np.array_equal(back.body.refinement, paint) and back.fingerprints() == finer.fingerprints()
    changed = {part for part, words in finer.fingerprints().items() if words != job.fingerprints()[part]}
    assert changed == {"resolution"} and finer.until(job.frame_start).body.refinement is not None
    other = ResolutionSettings(cells_across=job.body.resolution.cells_across, refine_factor=3.0)
    assert job.with_body(resolution=other).fingerprints() == job.fingerprints()  # nothing is painted
    assert finer.with_body(resolution=other).fingerprints() != finer.fingerprints()
    assert details("resolution", job, finer) == ["where it is finer"]
    assert details("resolution", finer, finer.with_body(resolution=other)) == ["refine factor 2 → 3"]
    with pytest.raises(SettingsError, match="painted refinement"):
        job.with_body(refinement=paint[1:])
