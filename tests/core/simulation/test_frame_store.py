"""The frame store: whole files or none, damage and strangers are known, nothing runs code."""

from __future__ import annotations

import json
import os
import struct
from dataclasses import replace

import numpy as np
import pytest
from sinew.core.errors import CorruptFrameError, StoreError
from sinew.core.model.settings import SolverSettings
from sinew.core.model.state import State
from sinew.core.simulation import frame_store
from sinew.core.simulation.frame_store import FrameStore, read_arrays, write_arrays

from .jobs import shaken_bar


def state(k=0.0):
    return State(np.full((5, 3), k), np.zeros((5, 3)), np.ones((2, 6)))


@pytest.fixture
def store(tmp_path):
    store = FrameStore.create(tmp_path / "bake", shaken_bar())
    for frame in range(1, 5):
        store.write(frame, np.full((7, 3), float(frame)), state(frame), [])
    return store


def test_frames_come_back(store):
    assert store.frames() == [1, 2, 3, 4]
    assert np.array_equal(store.read(3), np.full((7, 3), 3.0))
    frame, last = store.last_state(1)
    assert frame == 4
    assert np.array_equal(last.positions, state(4).positions)
    assert store.job().fingerprints() == store.fingerprints()


def test_the_newest_states_are_kept(store):
    assert sorted(p.name for p in store.folder.glob("state_*")) == ["state_000003.sinew", "state_000004.sinew"]


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
    other = FrameStore.create(tmp_path / "other", replace(shaken_bar(), solver=SolverSettings(substeps=3)))
    other.write(4, np.zeros((7, 3)), state(), [])
    (store.folder / "frame_000004.sinew").write_bytes((other.folder / "frame_000004.sinew").read_bytes())
    with pytest.raises(CorruptFrameError, match="another bake"):
        store.read(4)


def test_a_renamed_frame_is_known(store):
    os.replace(store.folder / "frame_000002.sinew", store.folder / "frame_000004.sinew")
    with pytest.raises(CorruptFrameError):
        store.read(4)
    assert store.last_state(1) is None or store.last_state(1)[0] < 2


def test_a_type_that_is_no_number_is_refused(tmp_path):
    header = json.dumps(
        {"arrays": [["a", "|O", [1]]], "sha256": frame_store.hashlib.sha256(b"x" * 8).hexdigest(), "about": {}}
    )
    digest = frame_store.hashlib.sha256(header.encode()).digest()
    path = tmp_path / "frame_000001.sinew"
    path.write_bytes(frame_store.MAGIC + struct.pack("<Q", len(header)) + digest + header.encode() + b"x" * 8)
    with pytest.raises(CorruptFrameError, match="type"):
        read_arrays(path)


def test_a_failing_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "frame_000001.sinew"
    write_arrays(path, {"a": np.arange(3.0)}, {})

    def full(_handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(frame_store.os, "fsync", full)
    with pytest.raises(StoreError, match="No space left"):
        write_arrays(path, {"a": np.arange(9.0)}, {})
    monkeypatch.undo()
    assert np.array_equal(read_arrays(path)[0]["a"], np.arange(3.0))
    assert [p.name for p in tmp_path.iterdir()] == ["frame_000001.sinew"]


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match="cannot be made") as raised:
        FrameStore.create(tmp_path / "file" / "bake", shaken_bar())
    assert "Save the .blend" in raised.value.remedy


def test_an_absent_store_is_named(tmp_path):
    with pytest.raises(StoreError, match="no bake"):
        FrameStore.open(tmp_path / "nothing")


def test_delete_takes_its_own_files_only(store):
    (store.folder / "notes.txt").write_text("mine")
    store.delete()
    assert [p.name for p in store.folder.iterdir()] == ["notes.txt"]


def test_the_edit_that_outdated_a_bake_is_named(store):
    job = shaken_bar()
    assert store.outdated_by(job) == []
    assert store.outdated_by(replace(job, solver=SolverSettings(substeps=3))) == ["solver"]
