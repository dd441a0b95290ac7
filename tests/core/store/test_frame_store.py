"""The frame store: whole files or none, damage and strangers are known, nothing runs code."""

from __future__ import annotations

import os
import subprocess

import numpy as np
import pytest
from sinew.core.foundation.errors import CorruptFrameError, MeshError, PinError, StoreError
from sinew.core.foundation.files import array_file
from sinew.core.foundation.files.array_file import read_arrays, write_arrays
from sinew.core.foundation.schema.settings import SolverSettings
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
from sinew.core.jobs.store.frame_store import ABOUT_LIMIT, STORE_FORMAT, FrameStore
from sinew.core.jobs.store.store_lock import LOCK_NAME, locked
from sinew.core.methods.model.state import State

from ..files.test_array_file import write_raw
from ..jobs import box_surface, shaken_bar, surrounded_bar

N = len(box_surface().positions)


def state(k=0.0):
    return State(np.full((5, 3), float(k)), np.zeros((5, 3)), np.ones((2, 6)))


@pytest.fixture
def store(tmp_path):
    store = FrameStore.create(tmp_path / "bake", shaken_bar())
    for frame in range(1, 5):
        store.write(frame, np.full((N, 3), float(frame)), state(frame), [])
    return store


def test_frames_come_back(store):
    assert store.frames() == [1, 2, 3, 4]
    assert np.array_equal(store.read(3), np.full((N, 3), 3.0))
    frame, last = store.last_state(1)
    assert frame == 4
    assert np.array_equal(last.positions, state(4).positions)
    assert store.job().fingerprints() == store.fingerprints()


@pytest.mark.parametrize("bad", [np.nan, -1.0])
def test_stress_that_is_not_one_is_left_out(store, bad):
    stress = np.arange(N, dtype=float)
    store.write(5, np.zeros((N, 3)), state(), [], stress=1e300 * stress)
    assert np.isfinite(store.stress(5)).all() and store.stress(4) is None
    stress[3] = bad
    store.write(5, np.zeros((N, 3)), state(), [], stress=stress)
    assert store.stress(5) is None


def test_the_newest_states_are_kept(store):
    assert sorted(p.name for p in store.folder.glob("state_*")) == ["state_000003.sinew", "state_000004.sinew"]


@pytest.mark.parametrize("link", [os.symlink, os.link])
@pytest.mark.parametrize("name", ["lock", "about.sinew.part", "job.npz.part", "job.npz"])
def test_a_link_in_a_strangers_folder_is_not_written_through(tmp_path, name, link):
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "bake").mkdir()
    link(tmp_path / "mine", tmp_path / "bake" / name)
    FrameStore.create(tmp_path / "bake", shaken_bar())
    assert (tmp_path / "mine").read_text() == "mine"


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[: len(data) // 2],
        lambda data: data[:-1],
        lambda data: data[:200] + bytes([data[200] ^ 1]) + data[201:],
        lambda data: data[:60] + b"X" + data[61:],
        lambda data: b"",
        lambda data: b"something else entirely",
    ],
)
def test_a_damaged_frame_is_known_and_resume_steps_back(store, damage):
    path = store.folder / "frame_000004.sinew"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(CorruptFrameError, match="frame_000004"):
        store.read(4)
    assert store.last_state(1)[0] == 3


def test_a_frame_of_another_bake_is_known(store, tmp_path):
    other = FrameStore.create(tmp_path / "other", shaken_bar().with_body(solver=SolverSettings(substeps=3)))
    other.write(4, np.zeros((N, 3)), state(), [])
    (store.folder / "frame_000004.sinew").write_bytes((other.folder / "frame_000004.sinew").read_bytes())
    with pytest.raises(CorruptFrameError, match="another bake"):
        store.read(4)


def test_a_renamed_frame_is_known(store):
    os.replace(store.folder / "frame_000002.sinew", store.folder / "frame_000004.sinew")
    with pytest.raises(CorruptFrameError):
        store.read(4)
    assert store.last_state(1) is None or store.last_state(1)[0] < 2


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="links want a privilege on Windows")
@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_nothing_is_written_through_a_link(store, tmp_path, link):
    """Links in a stranger's folder may lead to any file of the user."""
    treasure = tmp_path / "treasure"
    treasure.write_text("mine")
    names = ("frame_000009.sinew.part", "state_000009.sinew.part", "about.sinew.part", LOCK_NAME)
    for name in names:
        link(treasure, store.folder / name)
    with locked(store.folder):
        store.write(9, np.zeros((N, 3)), state(), [])
        store.add_preparation({"part": 1.0})
    assert treasure.read_text() == "mine" and not store.read(9).any()


def test_a_panel_reads_no_long_header(store, monkeypatch):
    about = {"format": STORE_FORMAT, "fingerprints": {"mesh": "a" * ABOUT_LIMIT}}
    write_arrays(store.folder / "about.sinew", {}, about)
    read = []
    monkeypatch.setattr(array_file.hashlib, "sha256", lambda data: read.append(len(data)))
    assert not FrameStore(store.folder).is_known() and not read


def test_times_that_are_no_float_are_left_out(store):
    about = {"fingerprints": store.fingerprints(), "preparation": {"a": 10**400, "b": 1.5, "c": float("nan"), "d": -1}}
    write_arrays(store.folder / "about.sinew", {}, about)
    assert FrameStore(store.folder).preparation() == {"b": 1.5}


@pytest.mark.parametrize(
    "positions",
    [np.zeros((2, 2)), np.zeros((N, 3), dtype=np.float32), np.zeros((N - 1, 3)), np.full((N, 3), np.nan), np.zeros(3)],
)
def test_a_frame_that_does_not_fit_the_surface_is_damaged(store, positions):
    write_arrays(store.folder / "frame_000003.sinew", {"positions": positions}, {"frame": 3, "job": store.key()})
    for same in (store, FrameStore.open(store.folder)):
        with pytest.raises(CorruptFrameError, match="frame_000003.*positions"):
            same.read(3)
        assert same.last_state(1) is None, "states of frames 3 and 4 only are kept"


def test_reports_of_another_kind_are_damage(store):
    about = {"frame": 3, "job": store.key(), "reports": 5}
    write_arrays(store.folder / "frame_000003.sinew", {"positions": np.zeros((N, 3))}, about)
    with pytest.raises(CorruptFrameError, match="reports"):
        store.about(3)


@pytest.mark.parametrize(
    "change",
    [
        {"stretch": np.ones((2, 5))},
        {"stretch": np.float64(1.0)},
        {"velocities": np.zeros((4, 3))},
        {"positions": np.zeros((5, 3), dtype=np.float32)},
        {"positions": np.full((5, 3), np.inf)},
    ],
)
def test_a_state_of_wrong_shape_is_passed_over(store, change):
    arrays = {**state(4).arrays(), **{k: np.asarray(v) for k, v in change.items()}}
    write_arrays(store.folder / "state_000004.sinew", arrays, {"frame": 4, "job": store.key()})
    assert store.last_state(1)[0] == 3


@pytest.mark.parametrize("about", [["a"], {"fingerprints": 3}, {}])
def test_a_foreign_about_outdates_and_is_no_exception(store, about):
    (store.folder / "about.sinew").unlink()
    write_raw(store.folder / "about.sinew", {"arrays": [], "about": about}, b"")
    store = FrameStore.open(store.folder)
    job = shaken_bar()
    assert store.fingerprints() == {}
    assert store.outdated_by(job)
    with pytest.raises(CorruptFrameError, match="another bake"):
        store.read(3)
    assert FrameStore.create(store.folder, job).outdated_by(job) == []


@pytest.mark.parametrize("version", [{}, {"format": 0}, {"format": [1]}])
def test_a_store_of_another_format_is_outdated_by_its_version(store, version):
    job = shaken_bar()
    (store.folder / "mesh.sinew").write_bytes(b"of old")
    write_arrays(store.folder / "about.sinew", {}, {"fingerprints": job.fingerprints(), **version})
    assert FrameStore.open(store.folder).outdated_by(job) == ["version"]
    assert FrameStore.create(store.folder, job).outdated_by(job) == []
    assert not (store.folder / "mesh.sinew").exists()


def test_an_impossible_job_leaves_the_bake_before_it(store):
    job = shaken_bar()
    flat = job.with_body(surface=SurfaceMesh(job.body.surface.positions * 0.0, job.body.surface.triangles))
    every = np.arange(N)
    held = job.with_body(
        pinned_vertices=every, pin_positions=np.tile(job.body.surface.positions, (12, 1, 1)), pin_held=None
    )
    for impossible, error in ((flat, MeshError), (held, PinError)):
        with pytest.raises(error):
            FrameStore.create(store.folder, impossible)
    assert store.frames() == [1, 2, 3, 4]
    assert store.outdated_by(job) == []


def test_a_failing_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "frame_000001.sinew"
    write_arrays(path, {"a": np.arange(3.0)}, {})

    def full(_handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(array_file.os, "fsync", full)
    with pytest.raises(StoreError, match="No space left"):
        write_arrays(path, {"a": np.arange(9.0)}, {})
    monkeypatch.undo()
    assert np.array_equal(read_arrays(path)[0]["a"], np.arange(3.0))
    assert [p.name for p in tmp_path.iterdir()] == ["frame_000001.sinew"]


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match="cannot be made") as raised:
        FrameStore.create(tmp_path / "file" / "bake", shaken_bar())
    assert "Choose a folder that can be written" in raised.value.remedy


def test_a_file_that_cannot_be_deleted_is_named(store, monkeypatch):
    def locked(*_args, **_keywords):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "unlink", locked)
    monkeypatch.setattr(os, "rmdir", locked)
    for attempt in (
        lambda: FrameStore.create(store.folder, shaken_bar()),
        lambda: store.keep_until(2),
        lambda: store.write(5, np.zeros((N, 3)), state(), []),
        store.delete,
    ):
        with pytest.raises(StoreError, match="cannot be deleted .Permission denied") as raised:
            attempt()
        assert ".blend" in raised.value.remedy
    monkeypatch.undo()
    monkeypatch.setattr(os, "rmdir", locked)
    with pytest.raises(StoreError, match="folder .* cannot be deleted"):
        store.delete()


@pytest.fixture
def disk(mount_disk):
    """A small file system of its own."""
    return mount_disk("512k")


def test_a_read_only_disk_is_named_and_keeps_its_bake(disk):
    job = shaken_bar()
    store = FrameStore.create(disk / "bake", job)
    store.write(1, np.zeros((N, 3)), state(), [])
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    for attempt in (
        lambda: FrameStore.create(disk / "bake", job),
        lambda: FrameStore.create(disk / "new", job),
        lambda: store.keep_until(None),
        lambda: store.write(2, np.zeros((N, 3)), state(), []),
        lambda: job.save(disk / "bake" / "job.npz"),
        store.delete,
    ):
        with pytest.raises(StoreError, match="Read-only file system") as raised:
            attempt()
        assert ".blend" in raised.value.remedy
    assert store.frames() == [1]
    assert np.array_equal(store.read(1), np.zeros((N, 3)))


def test_a_full_disk_is_named_and_leaves_whole_files_only(disk):
    job = shaken_bar()
    store = FrameStore.create(disk / "bake", job)
    with pytest.raises(StoreError, match="No space left"):
        for frame in range(1, 13):
            store.write(frame, np.zeros((N, 3)), State(*3 * [np.zeros((4000, 3))]), [])
    assert not list(store.folder.glob("*.part"))
    for frame in store.frames():
        store.read(frame)
    with pytest.raises(StoreError, match="No space left"):
        shaken_bar(2000).save(store.folder / "job.npz")
    assert not list(store.folder.glob("*.part"))
    assert store.job().fingerprints() == job.fingerprints()


def test_an_absent_store_is_named(tmp_path):
    with pytest.raises(StoreError, match="no bake"):
        FrameStore.open(tmp_path / "nothing")


def test_delete_takes_its_own_files_only(store):
    (store.folder / "notes.txt").write_text("mine")
    store.delete()
    assert [p.name for p in store.folder.iterdir()] == ["notes.txt"]


def test_a_longer_range_alone_is_named_as_that(store, tmp_path):
    store = FrameStore.create(tmp_path / "surrounded", surrounded_bar())
    assert store.outdated_by(surrounded_bar(frames=20)) == ["frame range"]
    other = surrounded_bar(frames=20).with_body(colliders=())
    assert store.outdated_by(other) == ["collisions", "frame range"]


def test_a_longer_range_of_pins_alone_is_named_as_that(store):
    assert store.outdated_by(shaken_bar(frames=20)) == ["frame range"]
    longer = shaken_bar(frames=20)
    moved = longer.with_body(pin_positions=longer.body.pin_positions + 1.0)
    assert store.outdated_by(moved) == ["animation", "frame range"]


def test_the_edit_that_outdated_a_bake_is_named(store):
    job = shaken_bar()
    assert store.outdated_by(job) == []
    assert store.outdated_by(job.with_body(solver=SolverSettings(substeps=3))) == ["solver"]


def test_a_file_that_another_program_holds_for_a_moment_is_asked_for_again(tmp_path, monkeypatch):
    path, refusals = tmp_path / "frame.sinew", [3, 3, 3]
    replace_file = os.replace

    def held(*arguments):
        if refusals:
            raise PermissionError(refusals.pop(), "Held by another process")
        replace_file(*arguments)

    monkeypatch.setattr(array_file.os, "replace", held)
    monkeypatch.setattr(array_file, "PAUSES", ())
    with pytest.raises(StoreError, match="cannot be written"):  # as everywhere but on Windows
        write_arrays(path, {}, {})
    monkeypatch.setattr(array_file, "PAUSES", (0.001, 0.001))
    write_arrays(path, {}, {"a": 1})
    assert not refusals and read_arrays(path)[1] == {"a": 1}
