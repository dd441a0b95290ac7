"""The frame store: one folder per bake with a job, tetrahedra, frames and the newest states, each file checksummed.

A file is a magic word, the length of a JSON header, the header (names, shapes and types of arrays, SHA-256 of what
follows) and the arrays' bytes, little-endian. It is written beside its place, flushed to the disk and moved there, so a
name always stands for a whole file: a kill at any moment loses nothing that was reported. Nothing is ever unpickled.

    job.npz            what is simulated (``Job.save``)
    about.sinew        fingerprints of the job
    mesh.sinew         tetrahedra and embedding
    frame_000012.sinew positions of the render surface, world space, metres
    state_000012.sinew what the solver needs to go on after frame 12 with the same bits; the newest two are kept
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import struct
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import CorruptFrameError, StoreError
from ..model.state import State
from ..optimization.report import StepReport
from .job import Job

MAGIC = b"SINEW\x00\x00\x01"
KEPT_STATES = 2
_NAME = re.compile(r"^(frame|state)_(-?\d{5,})\.sinew$")
_TYPES = ("<f8", "<f4", "<i4", "<i8", "|b1", "|u1")


def write_arrays(path: Path, arrays: dict[str, np.ndarray], about: dict[str, Any]) -> None:
    """Write arrays and a JSON-able ``about`` to one file, so that it is there whole or not at all.

    Raises StoreError when the disk is full or the folder cannot be written; the file of that name is untouched then.
    """
    little = {k: np.ascontiguousarray(a, dtype=a.dtype.newbyteorder("<")) for k, a in arrays.items()}
    payload = b"".join(a.tobytes() for a in little.values())
    header = json.dumps(
        {
            "arrays": [[k, a.dtype.str, list(a.shape)] for k, a in little.items()],
            "sha256": hashlib.sha256(payload).hexdigest(),
            "about": about,
        }
    ).encode()
    temporary = path.with_name(path.name + ".part")
    try:
        with open(temporary, "wb") as file:
            file.write(MAGIC + struct.pack("<Q", len(header)) + hashlib.sha256(header).digest() + header + payload)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        _sync_folder(path.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise StoreError(
            f"{path.name} cannot be written ({error.strerror or error}).",
            "Free disk space, or save the .blend where you may write.",
        ) from error


def read_arrays(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """What :func:`write_arrays` wrote; CorruptFrameError when the file is truncated, altered or foreign."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise StoreError(f"{Path(path).name} cannot be read ({error.strerror or error}).", "Bake again.") from error
    try:
        if data[:8] != MAGIC:
            raise ValueError("it is no file of Sinew")
        (length,) = struct.unpack_from("<Q", data, 8)
        digest, header, payload = data[16:48], data[48 : 48 + length], data[48 + length :]
        if hashlib.sha256(header).digest() != digest:
            raise ValueError("its header is damaged")
        described = json.loads(header)
        if hashlib.sha256(payload).hexdigest() != described["sha256"]:
            raise ValueError("its content is truncated or altered")
        arrays, at = {}, 0
        for name, kind, shape in described["arrays"]:
            if kind not in _TYPES:
                raise ValueError(f"it holds values of type {kind}")
            count = int(np.prod(shape, dtype=np.int64))
            arrays[name] = np.frombuffer(payload, dtype=kind, count=count, offset=at).reshape(shape).copy()
            at += arrays[name].nbytes
        return arrays, described["about"]
    except (ValueError, KeyError, TypeError, struct.error) as error:
        raise CorruptFrameError(
            f"{Path(path).name} is damaged: {error}.", "Resume the bake to compute it again."
        ) from error


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # Windows keeps renames in order by itself and cannot open a folder.
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class FrameStore:
    """The files of one bake. Making the object touches nothing on disk."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self._known_key: str | None = None

    @classmethod
    def create(cls, folder: Path | str, job: Job) -> FrameStore:
        """A store for a job; frames of an earlier one are deleted, its tetrahedra stay where mesh and resolution are
        the same.
        """
        store = cls(folder)
        try:
            store.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(
                f"The cache folder {store.folder} cannot be made ({error.strerror or error}).",
                "Save the .blend where you may write.",
            ) from error
        before = store.fingerprints()
        store._delete_frames(from_frame=None)
        now = job.fingerprints()
        if any(before.get(part) != now[part] for part in ("mesh", "resolution")):
            store._path("mesh").unlink(missing_ok=True)
        # The job goes away first and comes back last: without it the store counts as empty.
        (store.folder / "job.npz").unlink(missing_ok=True)
        write_arrays(store._path("about"), {}, {"fingerprints": now})
        job.save(store.folder / "job.npz")
        return store

    @classmethod
    def open(cls, folder: Path | str) -> FrameStore:
        """An existing store; StoreError when there is none."""
        store = cls(folder)
        if not store.exists():
            raise StoreError(f"There is no bake in {store.folder}.", "Bake first.")
        return store

    def exists(self) -> bool:
        """Whether a job lies there."""
        return (self.folder / "job.npz").is_file() and self._path("about").is_file()

    def job(self) -> Job:
        """The job that is baked here."""
        return Job.load(self.folder / "job.npz")

    def fingerprints(self) -> dict[str, str]:
        """Fingerprints of the job's parts; empty when there is none or it cannot be read."""
        try:
            found = read_arrays(self._path("about"))[1].get("fingerprints", {})
        except StoreError:
            return {}
        return found if isinstance(found, dict) else {}

    def outdated_by(self, job: Job) -> list[str]:
        """Names of the parts in which a job differs from the one baked here (mesh, materials, pins ...)."""
        before = self.fingerprints()
        return [part for part, digest in job.fingerprints().items() if before.get(part) != digest]

    # -- frames -------------------------------------------------------------------------------------------------------

    def frames(self) -> list[int]:
        """Frames that are there, ascending (by name: :meth:`read` checks the content)."""
        return self._numbers("frame")

    def read(self, frame: int) -> np.ndarray:
        """Surface positions, (n,3) float64, world space, metres; CorruptFrameError, or StoreError when it is not
        there.
        """
        return self._read_own("frame", frame, "positions")[0]["positions"]

    def reports(self, frame: int) -> list[dict[str, Any]]:
        """Reports of the steps that led to a frame."""
        return list(self._read_own("frame", frame, "positions")[1].get("reports", []))

    def write(self, frame: int, surface: np.ndarray, state: State, reports: list[StepReport]) -> None:
        """Keep a frame. When this returns, the frame is safe on disk and the simulation can go on from it."""
        whose = {"frame": frame, "job": self._key()}
        write_arrays(self._path("state", frame), state.arrays(), whose)
        write_arrays(
            self._path("frame", frame), {"positions": surface}, {**whose, "reports": [r.as_dict() for r in reports]}
        )
        for old in self._numbers("state")[:-KEPT_STATES]:
            self._path("state", old).unlink(missing_ok=True)

    def last_state(self, first_frame: int) -> tuple[int, State] | None:
        """The newest frame from which the simulation can go on: it and all frames before it are whole."""
        good = first_frame - 1
        for frame in self.frames():
            if frame != good + 1:
                break
            try:
                self.read(frame)
            except StoreError:
                break
            good = frame
        for frame in reversed([f for f in self._numbers("state") if f <= good]):
            try:
                return frame, State.from_arrays(self._read_own("state", frame, "stretch")[0])
            except StoreError:
                continue
        return None

    def _read_own(self, kind: str, frame: int, array: str) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        path = self._path(kind, frame)
        arrays, about = read_arrays(path)
        if array not in arrays or about.get("frame") != frame or about.get("job") != self._key():
            raise CorruptFrameError(f"{path.name} belongs to another bake.", "Resume the bake to compute it again.")
        return arrays, about

    def _key(self) -> str:
        """One word for the job, in every frame, so that a file from elsewhere is known."""
        if self._known_key is None:
            self._known_key = hashlib.sha256(json.dumps(self.fingerprints(), sort_keys=True).encode()).hexdigest()
        return self._known_key

    def keep_until(self, frame: int | None) -> None:
        """Forget frames and states after one (all, with None), and what a kill left half-written."""
        self._delete_frames(from_frame=None if frame is None else frame + 1)

    # -- tetrahedra ---------------------------------------------------------------------------------------------------

    def read_mesh(self) -> tuple[dict[str, np.ndarray], dict[str, Any]] | None:
        """Arrays of the tetrahedra kept here, or None when there are none or they cannot be read."""
        try:
            return read_arrays(self._path("mesh"))
        except StoreError:
            return None

    def write_mesh(self, arrays: dict[str, np.ndarray], about: dict[str, Any]) -> None:
        """Keep the tetrahedra."""
        write_arrays(self._path("mesh"), arrays, about)

    # -- the folder ---------------------------------------------------------------------------------------------------

    def size_on_disk(self) -> int:
        """Bytes."""
        if not self.folder.is_dir():
            return 0
        return sum(path.stat().st_size for path in self.folder.iterdir() if path.is_file())

    def delete(self) -> None:
        """Remove this store's own files, and the folder when nothing else lies in it."""
        if not self.folder.is_dir():
            return
        self._delete_frames(from_frame=None)
        for name in ("job.npz", "job.npz.part", "about.sinew", "about.sinew.part", "mesh.sinew", "mesh.sinew.part"):
            (self.folder / name).unlink(missing_ok=True)
        if not any(self.folder.iterdir()):
            shutil.rmtree(self.folder)

    def _path(self, kind: str, frame: int | None = None) -> Path:
        return self.folder / (f"{kind}.sinew" if frame is None else f"{kind}_{frame:06d}.sinew")

    def _numbers(self, kind: str) -> list[int]:
        if not self.folder.is_dir():
            return []
        matches = (_NAME.match(name) for name in os.listdir(self.folder))
        return sorted(int(m.group(2)) for m in matches if m and m.group(1) == kind)

    def _delete_frames(self, from_frame: int | None) -> None:
        for kind in ("state", "frame"):
            for frame in self._numbers(kind):
                if from_frame is None or frame >= from_frame:
                    self._path(kind, frame).unlink(missing_ok=True)
        for part in self.folder.glob("*_*.sinew.part"):
            part.unlink(missing_ok=True)
