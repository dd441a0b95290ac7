"""Files that are there whole or not at all: links are not followed, and headers are not believed."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import struct
import time
from pathlib import Path

import numpy as np
import pytest
from sinew.core.foundation.errors import CorruptFrameError, StoreError
from sinew.core.foundation.files.array_file import HEADER_LIMIT, MAGIC, open_own, read_arrays, whole_files, write_arrays
from sinew.core.foundation.files.npz_file import read_npz


def write_raw(path, described, payload=b"x" * 8):
    """A file with right checksums around any header."""
    if isinstance(described, dict):
        described = json.dumps({"sha256": hashlib.sha256(payload).hexdigest(), "about": {}, **described})
    header = described.encode()
    path.write_bytes(MAGIC + struct.pack("<Q", len(header)) + hashlib.sha256(header).digest() + header + payload)


@pytest.mark.parametrize(
    ("described", "why"),
    [
        ({"arrays": [["a", "|O", [1]]]}, "type"),
        ({"arrays": [["a", "<f8", [2**50]]]}, "shorter than its header"),
        ({"arrays": [["a", "<f8", [2**32, 2**32]]]}, "shorter than its header"),
        ({"arrays": [["a", "<f8", [2**70]]]}, "shape"),
        ({"arrays": [["a", "<f8", [0, 2**70]]]}, "shape"),
        ({"arrays": [["a", "<f8", [1] * 9]]}, "shape"),
        ({"arrays": [["a", "<f8", {"1": 1}]]}, "shape"),
        ({"arrays": [[f"{k}", "<f8", [0]] for k in range(1001)]}, "lists 1001 arrays"),
        ({"arrays": {"abc": 1}}, "does not describe"),
        ({"arrays": [["a", "<f8", [-1]]]}, "shape"),
        ({"arrays": [["a", "<f8", [1.0]]]}, "shape"),
        ({"arrays": [["a", "<f8", [True]]]}, "shape"),
        ({"arrays": [["a", "<f4", [1]]]}, "longer than its header"),
        ({"arrays": []}, "longer than its header"),
        ({"arrays": [[["a"], "<f8", [1]]]}, "not text"),
        ({"arrays": [["a", "<f8"]]}, "damaged"),
        ({"arrays": 3}, "damaged"),
        ({"arrays": [["a", "<f8", [1]]], "about": ["format"]}, "does not describe"),
        ("[" * 100_000, "damaged"),
        ("3", "damaged"),
        ("[]", "damaged"),
    ],
)
def test_a_header_with_right_checksum_is_not_believed(tmp_path, described, why):
    path = tmp_path / "frame_000001.sinew"
    write_raw(path, described)
    with pytest.raises(CorruptFrameError, match=why):
        read_arrays(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has neither such devices nor pipes among files")
def test_what_is_no_file_is_not_read(tmp_path):
    """A device or a pipe, to which a link in a stranger's archive leads, would never come to its end."""
    path = tmp_path / "frame_000001.sinew"
    path.symlink_to("/dev/null")
    with pytest.raises(StoreError, match=r"cannot be read \(it is not a file\)"):
        read_arrays(path)
    os.mkfifo(tmp_path / "job.npz")
    with pytest.raises(OSError, match="it is not a file"):
        read_npz(tmp_path / "job.npz")


@pytest.mark.parametrize("mode", ["wb", "w", "ab", "a+"])
def test_a_link_that_is_made_while_a_file_is_opened_is_refused(tmp_path, monkeypatch, mode):
    (tmp_path / "mine").write_text("mine")
    os.link(tmp_path / "mine", tmp_path / "log")
    monkeypatch.setattr(Path, "unlink", lambda self: None)  # another process is faster
    with pytest.raises(OSError, match="it is a link"):
        open_own(tmp_path / "log", mode)
    assert (tmp_path / "mine").read_text() == "mine"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such pipes among files")
def test_a_device_or_pipe_is_not_replaced_by_a_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    for name in ("pipe", "link"):
        with pytest.raises(StoreError, match=r"cannot be written \(a device or a pipe has that name\)"):
            write_arrays(tmp_path / name, {}, {})
    assert stat.S_ISFIFO(os.stat(tmp_path / "link").st_mode) and sorted(os.listdir(tmp_path)) == ["link", "pipe"]


def _write_textures(folder: Path, content: str) -> None:
    with whole_files(folder) as private:
        (private / "shot.usdc").write_text(content)
        (private / "textures").mkdir()
        (private / "textures" / "wood.png").write_text(content)


def test_files_that_other_programs_write_come_in_their_places_together(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    for content in ("first", "second"):
        _write_textures(folder, content)
        assert (folder / "shot.usdc").read_text() == content
        assert (folder / "textures" / "wood.png").read_text() == "first"  # as another file's
    with pytest.raises(ZeroDivisionError), whole_files(folder) as private:
        (private / "shot.usdc").write_text(str(1 / 0))
    assert sorted(os.listdir(folder)) == ["shot.usdc", "textures"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="links want a privilege on Windows")
@pytest.mark.parametrize("name", ["shot.usdc", "textures", "textures/wood.png"])
@pytest.mark.parametrize("to", ["there", "nothing"])
def test_files_of_other_programs_never_come_where_a_link_leads(tmp_path, name, to):
    folder, treasure = tmp_path / "project", tmp_path / "there"
    (folder / name).parent.mkdir(parents=True)
    treasure.mkdir() if name == "textures" else treasure.write_text("mine")
    (folder / name).symlink_to(tmp_path / to)
    with pytest.raises(OSError) if name == "textures" else contextlib.nullcontext():
        _write_textures(folder, "export")
    assert not (tmp_path / "nothing").exists()
    assert not list(treasure.iterdir()) if name == "textures" else treasure.read_text() == "mine"


def test_what_comes_after_the_arrays_is_not_read(tmp_path):
    """A sparse file of terabytes takes no room on a disk."""
    path = tmp_path / "frame_000001.sinew"
    write_raw(path, {"arrays": [["a", "<f8", [1]]]})
    os.truncate(path, 2**42)
    with pytest.raises(CorruptFrameError, match="longer than its header states"):
        read_arrays(path)


@pytest.mark.parametrize("entry", ["999999999999999999", "9" * 4000, '"x"', "[]", "1e999"])
@pytest.mark.parametrize("where", ["a shape", "the arrays", "a type", "a name", "about"])
def test_a_long_header_takes_no_time(tmp_path, entry, where):
    """A product of the numbers in a header of 1 MB would take seconds."""
    many = "[" + ",".join([entry] * (2**20 // (len(entry) + 1))) + "]"
    parts = {"a name": '"a"', "a type": '"<f8"', "a shape": "[1]", "about": "{}"} | {where: many}
    arrays = many if where == "the arrays" else f"[[{parts['a name']}, {parts['a type']}, {parts['a shape']}]]"
    path = tmp_path / "about.sinew"
    write_raw(path, f'{{"arrays": {arrays}, "sha256": "", "about": {parts["about"]}}}')
    before = time.process_time()
    with pytest.raises(CorruptFrameError) as caught:
        read_arrays(path)
    assert time.process_time() - before < 0.5 and len(str(caught.value)) < 200


def test_a_header_that_could_not_be_read_again_is_not_written(tmp_path):
    with pytest.raises(StoreError, match="would have a header of"):
        write_arrays(tmp_path / "a.sinew", {}, {"text": "a" * HEADER_LIMIT})
    assert not list(tmp_path.iterdir())


def test_a_header_longer_than_any_is_not_read(tmp_path):
    path = tmp_path / "frame_000001.sinew"
    with open(path, "wb") as file:
        file.write(MAGIC + struct.pack("<Q", HEADER_LIMIT + 1) + hashlib.sha256(b"").digest())
    with pytest.raises(CorruptFrameError):
        read_arrays(path)


def test_empty_arrays_come_back(tmp_path):
    write_arrays(tmp_path / "a", {"none": np.zeros((0, 3)), "some": np.arange(4, dtype=np.int32)}, {"k": 1})
    arrays, about = read_arrays(tmp_path / "a")
    assert arrays["none"].shape == (0, 3) and arrays["some"].tolist() == [0, 1, 2, 3] and about == {"k": 1}
