"""Faults of disks and other processes during a bake: nothing is lost, and a message has the remedy.

It is the library's matter: one Blender is enough.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import bpy
import numpy as np
import pytest
import sinew
from sinew.blender_addon.bake import baking
from sinew.blender_addon.cache.frame_folders import default_folder, recorded_folder
from sinew.core.foundation.errors import StoreError
from sinew.core.foundation.files import array_file
from sinew.core.jobs.store.frame_store import FrameStore
from sinew.core.jobs.store.store_lock import LOCK_NAME, locked

from ..command.test_command import launch
from ..scenes import CUBE

pytestmark = pytest.mark.skipif(sinew.__name__ != "sinew", reason="the main environment does it")


@pytest.fixture
def disk(mount_disk):
    """A small file system, which Blender has left when it goes."""
    yield mount_disk("4m")
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)


@pytest.fixture
def on_disk(body, disk):
    """The bar in a .blend on the small disk."""
    bpy.ops.wm.save_as_mainfile(filepath=str(disk / "scene.blend"))
    return body


def fill(disk: Path) -> Path:
    """Take all room that is left."""
    path = disk / "filling"
    with open(path, "wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(bytes(4096)):
            pass
    return path


def fails(operator, pattern: str) -> None:
    with pytest.raises(RuntimeError, match=pattern):
        operator()


def positions(obj) -> list[np.ndarray]:
    store = baking.open_store(obj)
    return [store.read(frame) for frame in store.frames()]


def test_a_full_disk_is_told_before_the_bake(on_disk, disk):
    fill(disk)
    fails(bpy.ops.sinew.bake, "needs about .* on disk, and .* left. Free disk space")
    assert on_disk.data.shape_keys is None and not (disk / "sinew_cache").exists()


def test_a_disk_that_fills_up_keeps_the_frames_done(on_disk, disk, monkeypatch):
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    expected = positions(on_disk)
    write = FrameStore.write

    def filling(store, frame, *rest, **named):
        if frame == 3:
            fill(disk)
        write(store, frame, *rest, **named)

    monkeypatch.setattr(FrameStore, "write", filling)
    fails(bpy.ops.sinew.bake, "cannot be written .No space left on device.*Free disk space")
    monkeypatch.undo()
    record = on_disk.sinew.bake
    assert (record.status, record.frames) == ("FAILED", 2) and "No space left" in record.message
    assert len(on_disk.data.shape_keys.key_blocks) == 2
    (disk / "filling").unlink()
    assert bpy.ops.sinew.resume_bake() == {"FINISHED"} and record.status == "DONE"
    assert all(np.array_equal(a, b) for a, b in zip(positions(on_disk), expected, strict=True))


def test_delete_bake_works_on_a_full_disk(on_disk, disk):
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    fill(disk)
    assert bpy.ops.sinew.delete_bake() == {"FINISHED"} and not (disk / "sinew_cache").exists()


def test_a_cache_file_that_does_not_fit_leaves_the_scene(on_disk, disk):
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    on_disk.sinew.result = "CACHE"
    fill(disk)
    bpy.ops.sinew.convert_result()
    assert "sinew_bake.pc2 cannot be written (No space left" in on_disk.sinew.bake.message
    assert (
        on_disk.sinew.bake.status == "DONE" and len(on_disk.data.shape_keys.key_blocks) == 4 and not on_disk.modifiers
    )


def test_a_read_only_disk_keeps_its_bake(on_disk, disk):
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    expected, record = positions(on_disk), on_disk.sinew.bake
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    for press in (bpy.ops.sinew.bake, bpy.ops.sinew.delete_bake, bpy.ops.sinew.disable):
        fails(press, "Read-only file system.*[Ss]ave")
        assert record.status == "DONE" and len(on_disk.data.shape_keys.key_blocks) == 4 and on_disk.sinew.enabled
        assert "Read-only file system" in record.message
    assert all(np.array_equal(a, b) for a, b in zip(positions(on_disk), expected, strict=True))


def test_a_cache_of_another_object_is_not_taken(body, saved, add_mesh):
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    other = add_mesh(*CUBE, name="Other")
    bpy.ops.sinew.enable()
    other.sinew.cells_across, other.sinew.use_scene_range, other.sinew.frame_end = 4, False, 4
    shutil.copytree(recorded_folder(body), default_folder(other))
    fails(bpy.ops.sinew.resume_bake, "Edited since the bake began: .*mesh.*Undo the edit, or Delete Bake")
    assert other.data.shape_keys is None
    shutil.copy(default_folder(other) / "frame_000002.sinew", default_folder(other) / "frame_000003.sinew")
    other.sinew.bake.folder, other.sinew.bake.status, other.sinew.bake.frames = body.sinew.bake.folder, "DONE", 4
    assert bpy.ops.sinew.check_bake() == {"FINISHED"} and "mesh" in other.sinew.bake.stale


@pytest.mark.parametrize("newer", [1, -1])
def test_a_cache_of_another_version_is_named(body, saved, newer):
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    about = recorded_folder(body) / "about.sinew"
    arrays, told = array_file.read_arrays(about)
    array_file.write_arrays(about, arrays, told | {"format": told["format"] + newer})
    body.sinew.bake.status = "STOPPED"
    fails(bpy.ops.sinew.resume_bake, "Another version of Sinew made these frames. Delete Bake")
    assert bpy.ops.sinew.check_bake() == {"FINISHED"} and body.sinew.bake.stale == "version of Sinew"
    assert len(body.data.shape_keys.key_blocks) == 4
    assert bpy.ops.sinew.bake() == {"FINISHED"} and body.sinew.bake.status == "DONE"


def other_endian(data: bytes) -> bytes:
    """Return the words of a file in the other byte order."""
    whole = len(data) // 8 * 8
    return np.frombuffer(data[:whole], dtype="<u8").astype(">u8").tobytes() + data[whole:]


def flipped(data: bytes) -> bytes:
    """One bit in the middle."""
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 16]) + data[middle + 1 :]


HARMS = {
    "empty": lambda data: b"",
    "cut off": lambda data: data[: len(data) // 2],
    "a bit flipped": flipped,
    "other endianness": other_endian,
    "zeros": lambda data: bytes(len(data)),
    "foreign": lambda data: b"PK\x03\x04" + data[4:],
}  # fmt: skip


@pytest.mark.parametrize("harm", HARMS)
def test_every_harmed_file_is_mended_or_named(body, saved, harm):
    """After a harm to any one file a resume gives the same bits, or says what is wrong; the shapes stay."""
    body.sinew.frame_end = 3
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    expected, folder = positions(body), recorded_folder(body)
    whole = {path.name: path.read_bytes() for path in folder.iterdir()}
    for name in whole:
        (folder / name).write_bytes(HARMS[harm](whole[name]))
        body.sinew.bake.status = "STOPPED"
        try:
            assert bpy.ops.sinew.resume_bake() == {"FINISHED"}
            assert all(np.array_equal(a, b) for a, b in zip(positions(body), expected, strict=True)), name
        except RuntimeError as error:
            assert "Delete Bake" in str(error) or "bake again" in str(error).lower(), (name, str(error))
        assert len(body.data.shape_keys.key_blocks) == 3, name
        for path in folder.iterdir():
            path.unlink()
        for other, data in whole.items():
            (folder / other).write_bytes(data)


def test_frames_of_the_other_byte_order_are_refused(body, saved, monkeypatch):
    """Written with a header that says so."""
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    path = recorded_folder(body) / "frame_000002.sinew"
    arrays, about = array_file.read_arrays(path)
    array_file.write_arrays(path, arrays, about)
    raw = path.read_bytes()
    swapped = arrays["positions"].byteswap().tobytes()
    length = int.from_bytes(raw[8:16], "little")
    header = raw[48 : 48 + length].replace(b"<f8", b">f8")
    described = json.loads(header) | {"sha256": hashlib.sha256(swapped).hexdigest()}
    header = json.dumps(described).encode()
    path.write_bytes(raw[:8] + len(header).to_bytes(8, "little") + hashlib.sha256(header).digest() + header + swapped)
    with pytest.raises(StoreError, match="damaged: it holds values of type >f8. Resume"):
        baking.open_store(body).read(2)


@pytest.fixture
def other_blender(body, saved):
    """Another process that holds the folder of the body's frames, after one bake."""
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(recorded_folder(body) / LOCK_NAME)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdout.readline() == b"held\n"
    yield holder
    holder.kill()
    holder.wait()
    holder.stdin.close()
    holder.stdout.close()


HOLD = """
import os, sys
file = open(sys.argv[1], "a+")
if os.name == "nt":
    import msvcrt
    file.seek(1 << 30)
    msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
else:
    import fcntl
    fcntl.flock(file, fcntl.LOCK_EX)
file.seek(0)
file.write("process 1 on another")
file.flush()
print("held", flush=True)
sys.stdin.read()
"""


def test_what_another_blender_bakes_is_left_alone(body, saved, other_blender, monkeypatch):
    monkeypatch.setattr("sinew.core.jobs.store.store_lock.PATIENCE", 0.0)
    expected = positions(body)
    body.sinew.bake.status = "STOPPED"
    for press in (bpy.ops.sinew.bake, bpy.ops.sinew.resume_bake, bpy.ops.sinew.delete_bake):
        fails(press, "Another process works on Body-.* .process 1 on another.*Wait until it is done")
        assert all(np.array_equal(a, b) for a, b in zip(positions(body), expected, strict=True))
        assert len(body.data.shape_keys.key_blocks) == 4
    other_blender.kill()
    other_blender.wait()
    assert bpy.ops.sinew.resume_bake() == {"FINISHED"} and body.sinew.bake.status == "DONE"
    assert not (recorded_folder(body) / LOCK_NAME).exists()


def test_who_holds_a_folder_may_take_it_again(tmp_path):
    with locked(tmp_path):
        with locked(tmp_path):
            pass
        assert (tmp_path / LOCK_NAME).exists()
    assert not list(tmp_path.iterdir())


def test_a_process_that_ends_is_waited_for(body, other_blender):
    ends = threading.Timer(0.2, other_blender.kill)
    ends.start()
    with locked(recorded_folder(body)):
        assert other_blender.wait() != 0
    ends.join()


def test_two_blenders_that_bake_one_file(body, saved):
    """The same .blend, at the same moment, each in a process of its own: one bakes, the other says why it does not."""
    bpy.ops.wm.save_mainfile()
    both = [launch(saved, "--frames", "1-30") for _ in range(2)]
    said = [process.communicate(timeout=300)[1] for process in both]
    codes = sorted(process.returncode for process in both)
    refused = [words for words, process in zip(said, both) if process.returncode]
    assert codes[0] == 0 and all("Another process works on" in words for words in refused), said
    bpy.ops.wm.open_mainfile(filepath=str(saved))
    assert baking.open_store(bpy.data.objects["Body"]).frames() == list(range(1, 31))
    assert not list(saved.parent.rglob(LOCK_NAME))
