"""Frame store: one folder per bake with a job, tetrahedra, frames and the newest states, each file checksummed.

``array_file`` writes the files, so a name always stands for a whole file: a kill at any moment loses nothing that was
reported.

    job.npz            the simulation's input (``Job.save``)
    about.sinew        format of the store, fingerprints of the job
    mesh.sinew         tetrahedra and embedding
    materials.sinew    materials of the tetrahedra
    subspace.sinew     skinning modes and cubature, where the solver has a subspace
    touching.sinew     contact points of its surface
    display.sinew      an interface's data to draw a body in a subspace (``live_service.display_arrays``)
    shapes.sinew       displacements of its surface by its vibrations, where they were found
    meeting.sinew      its contact surface
    handles.sinew      the frames as handles under weights, where the result is kept so
    difference.sinew   distance of the frames from those of another bake; compared.sinew: the key of that bake
    frame_000012.sinew positions of the render surface, world space, metres; where asked for, of the tets' vertices
    lock               while a process writes to the store (``store_lock``)
    state_000012.sinew solver state to continue after frame 12 with the same bits; the newest two are kept
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from ...foundation.errors import CorruptFrameError, StoreError, refusing
from ...foundation.files.array_file import read_about, read_arrays, remove, write_arrays
from ...foundation.process.process_memory import peak_memory
from ...methods.model.state import State
from ...numerics.optimization.step_report import StepReport
from ..job.fingerprints import BETWEEN_FRAMES
from ..job.job import Job
from ..job.job_changes import described
from .store_lock import locked

STORE_FORMAT = 9
"""Raise it when old frames, states or tetrahedra must not be continued: such stores count as outdated."""
KEPT_STATES = 2
ABOUT_LIMIT = 2**16
"""Bytes of the header of ``about.sinew``, which panels read whenever they are drawn; it takes some kilobytes."""
CACHED = (
    "mesh",
    "materials",
    "subspace",
    "spectra",
    "swing",
    "shapes",
    "touching",
    "skin",
    "display",
    "meeting",
    *("handles", "difference", "compared"),
)
"""Expensive results; each has a key of the data that it was made from, and may be deleted at any time."""
LENT = ("mesh", "materials", "subspace", "spectra", "swing", "touching", "skin")
"""Expensive results that another store can use."""
_NAME = re.compile(r"^(frame|state)_(-?\d{5,})\.sinew$")
_ONLY_ONCE = frozenset({"job.npz", "about.sinew", *(f"{kind}.sinew" for kind in CACHED)})


class FrameStore:
    """Files of one bake. Constructing the object touches nothing on disk."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self._known_key: str | None = None
        self._known_vertices: int | None = None

    @classmethod
    def create(cls, folder: Path | str, job: Job) -> FrameStore:
        """Create a store for a job. Earlier frames are deleted; tetrahedra stay if mesh and resolution are the same. A
        job that fails ``Job.check``, or has several bodies, leaves the earlier bake unchanged.
        """
        job.check()
        store, vertices = cls(folder), len(job.body.surface.positions)
        elsewhere = "Choose a folder that can be written: for a .blend, save it elsewhere."
        with refusing(f"The cache folder {store.folder} cannot be made", elsewhere):
            store.folder.mkdir(parents=True, exist_ok=True)
        with locked(store.folder):
            keeps_tetrahedra = store.has_tetrahedra_of(job)
            store._delete_frames(from_frame=None)
            if not keeps_tetrahedra:
                for kind in CACHED:
                    remove(store._path(kind))
            # The job goes away first and comes back last: without it the store counts as empty.
            remove(store.folder / "job.npz")
            write_arrays(store._path("about"), {}, {"format": STORE_FORMAT, "fingerprints": job.fingerprints()})
            job.save(store.folder / "job.npz")
        store._known_vertices = vertices
        return store

    @classmethod
    def open(cls, folder: Path | str) -> FrameStore:
        """Open an existing store; raise StoreError if there is none."""
        store = cls(folder)
        if not store.exists():
            raise StoreError(f"There is no bake in {store.folder}.", "Bake first.")
        return store

    def exists(self) -> bool:
        """Return True if the store holds a job."""
        return os.path.isfile(self.folder / "job.npz") and os.path.isfile(self._path("about"))

    def job(self) -> Job:
        """Return the job that is baked here."""
        job = Job.load(self.folder / "job.npz")
        if len(job.bodies) > 1:
            raise StoreError(f"The job in {self.folder} has several bodies.", "Delete the bake and bake again.")
        self._known_vertices = len(job.body.surface.positions)
        return job

    def is_known(self) -> bool:
        """Return True if readable data identify the files as a bake's; else they may be anybody's."""
        return bool(self._about())

    def check_about(self) -> None:
        """Raise StoreError if the description of the bake cannot be read."""
        if not self.is_known():
            raise StoreError(f"The record of the bake in {self.folder} is damaged.", "Bake again.")

    def check_whole(self, frames: range = range(0)) -> None:
        """Raise StoreError if the job, its description, or one of ``frames`` was deleted during a bake."""
        gone = [name for name in ("job.npz", "about.sinew") if not os.path.isfile(self.folder / name)]
        if gone:
            raise StoreError(f"{gone[0]} in {self.folder} was deleted during the bake.", "Bake again.")
        if lost := sorted(set(frames).difference(self.frames() if frames else ())):
            raise StoreError(
                f"{len(lost)} frames in {self.folder} were deleted during the bake, the first is {lost[0]}.",
                "Resume the bake to compute them again.",
            )

    def mend_job(self, job: Job) -> None:
        """Rewrite the job if its file is damaged; it has to be the same (:meth:`outdated_by`)."""
        try:
            self.job()
        except StoreError:
            job.save(self.folder / "job.npz")

    def fingerprints(self) -> dict[str, str]:
        """Return the fingerprints of the job's parts; empty if they are missing or unreadable."""
        found = self._about().get("fingerprints")
        return found if isinstance(found, dict) else {}

    def has_tetrahedra_of(self, job: Job) -> bool:
        """Return True if a job can take the tetrahedra: mesh, resolution and version are the same."""
        return not {"version", "mesh", "resolution"} & set(self.outdated_by(job))

    def outdated_by(self, job: Job) -> list[str]:
        """Return the names of the parts in which a job differs from the one baked here (mesh, materials, pins ...), or
        ``version`` alone if another version of Sinew made the store.
        """
        about = self._about()
        if about and about.get("format") != STORE_FORMAT:
            return ["version"]
        before = self.fingerprints()
        changed = [part for part, digest in job.fingerprints().items() if before.get(part) != digest]
        if "frame range" in changed and self.exists():
            with contextlib.suppress(StoreError):  # its job is damaged: then it is another
                alike = _equal_parts(self.job(), job)
                changed = [part for part in changed if part not in alike]
        # Samples between frames follow from these.
        follows = any(part in changed for part in ("pins", "springs", "collisions", "solver", "animation"))
        return [part for part in changed if part != BETWEEN_FRAMES] if follows else changed

    def changes(self, job: Job) -> list[str]:
        """Return :meth:`outdated_by` with the edits of each part: ``solver (substeps 1 → 2)``."""
        parts = self.outdated_by(job)
        return parts if not parts or parts == ["version"] else described(parts, self.job(), job)

    def _about(self) -> dict[str, Any]:
        try:
            return read_about(self._path("about"), ABOUT_LIMIT)
        except StoreError:
            return {}

    # -- frames -------------------------------------------------------------------------------------------------------

    def frames(self) -> list[int]:
        """Return the stored frames, ascending (by name: :meth:`read` checks the content)."""
        return self._numbers("frame")

    def read(self, frame: int) -> np.ndarray:
        """Return surface positions, (n,3) float64, world space, m; raise CorruptFrameError, or StoreError if
        missing."""
        return self._read_frame(frame)[0]["positions"]

    def pressure(self, frame: int) -> np.ndarray | None:
        """Return the contact pressure on the surface, (n,) Pa, or None without contact."""
        pressure = self._read_frame(frame)[0].get("pressure")
        fits = pressure is not None and pressure.shape == (self._vertices(),) and pressure.dtype == np.float32
        return pressure if fits and np.isfinite(pressure).all() and (pressure >= 0.0).all() else None

    def vertices(self, frame: int) -> np.ndarray:
        """Return the vertices of the tetrahedra, (v,3), m; raise StoreError if they were not stored."""
        found = self._read_frame(frame)[0].get("vertices")
        if found is None or found.ndim != 2 or found.shape[1] != 3:
            raise StoreError(f"Frame {frame} was kept without its tetrahedra.", "Simulate into another folder.")
        return found

    def about(self, frame: int) -> dict[str, Any]:
        """Return a frame's ``reports`` of its steps (dicts), and, if noted, ``seconds`` and ``peak_memory`` (bytes)."""
        return self._read_frame(frame)[1]

    def _read_frame(self, frame: int) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        arrays, about = self._read_own("frame", frame)
        positions, reports, n = arrays.get("positions"), about.setdefault("reports", []), self._vertices()
        whole = positions is not None and positions.shape == (n, 3) and positions.dtype == np.float64
        if not (whole and np.isfinite(positions).all()):
            raise self._misfit("frame", frame, f"it does not hold {n} positions")
        if not (isinstance(reports, list) and all(isinstance(report, dict) for report in reports)):
            raise self._misfit("frame", frame, "its reports are of another kind")
        return arrays, about

    def write(
        self,
        frame: int,
        surface: np.ndarray,
        state: State,
        reports: list[StepReport],
        seconds: float = 0.0,
        pressure: np.ndarray | None = None,
        vertices: np.ndarray | None = None,
    ) -> None:
        """Store a frame that took ``seconds`` s: positions ``surface`` (n,3) m, and, if given, the contact ``pressure``
        (n,) Pa and the tetrahedra's ``vertices`` (v,3) m. On return it is safe on disk and the simulation can continue.
        """
        self.check_whole()
        remove(self._path("handles"))  # fitted to all frames, so a new one makes them stale
        whose = {"frame": frame, "job": self.key()}
        write_arrays(self._path("state", frame), state.arrays(), whose)
        about = {"reports": [r.as_dict() for r in reports], "seconds": seconds, "peak_memory": peak_memory()}
        arrays = {"positions": surface}
        if pressure is not None and pressure.any():
            arrays["pressure"] = pressure.astype(np.float32)
        if vertices is not None:
            arrays["vertices"] = vertices
        write_arrays(self._path("frame", frame), arrays, {**whose, **about})
        for old in self._numbers("state")[:-KEPT_STATES]:
            remove(self._path("state", old))

    def last_state(self, first_frame: int, until: int | None = None) -> tuple[int, State] | None:
        """Return the newest frame, none after ``until``, with its state, up to which all frames are whole."""
        good = first_frame - 1
        for frame in self.frames():
            if frame != good + 1 or (until is not None and frame > until):
                break
            try:
                self.read(frame)
            except StoreError:
                break
            good = frame
        for frame in reversed([f for f in self._numbers("state") if f <= good]):
            try:
                return frame, State.from_arrays(self._read_own("state", frame)[0])
            except StoreError:
                continue
        return None

    def _read_own(self, kind: str, frame: int) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        arrays, about = read_arrays(self._path(kind, frame))
        if about.get("frame") != frame or about.get("job") != self.key():
            raise self._misfit(kind, frame, "it belongs to another bake")
        return arrays, about

    def _misfit(self, kind: str, frame: int, problem: str) -> CorruptFrameError:
        return CorruptFrameError(
            f"{self._path(kind, frame).name} is damaged: {problem}.", "Resume the bake to compute it again."
        )

    def _vertices(self) -> int:
        """Return the number of vertices of the job's surface; the job is read once for it."""
        if self._known_vertices is None:
            self.job()
        return self._known_vertices

    def key(self) -> str:
        """Return a digest of the job, stored in every frame, so that a foreign file is detected."""
        if self._known_key is None:
            self._known_key = hashlib.sha256(json.dumps(self.fingerprints(), sort_keys=True).encode()).hexdigest()
        return self._known_key

    def keep_until(self, frame: int | None) -> None:
        """Delete frames and states after one (all, with None), and half-written files of a killed process."""
        self._delete_frames(from_frame=None if frame is None else frame + 1)

    def linear_solver(self) -> tuple[str, str] | None:
        """Return the name and reason of the linear solver that the bake began with, or None."""
        cached = self._about().get("linear_solver")
        if isinstance(cached, list) and len(cached) == 2 and all(isinstance(text, str) for text in cached):
            return cached[0], cached[1]
        return None

    def keep_linear_solver(self, name: str, reason: str) -> None:
        """Store the linear solver for a bake that is resumed."""
        if self.linear_solver() != (name, reason):
            self._note(linear_solver=[name, reason])

    def match(self) -> str:
        """Return a description of the body's match with the full mesh; "" without a match."""
        words = self._about().get("match")
        return words if isinstance(words, str) else ""

    def keep_match(self, words: str) -> None:
        """Store the description of the match for the report."""
        if self.match() != words:
            self._note(match=words)

    def preparation(self) -> dict[str, float]:
        """Return the seconds of preparation before the frames, by part; empty if not noted."""
        cached = self._about().get("preparation")
        return {str(k): float(v) for k, v in cached.items() if _is_time(v)} if isinstance(cached, dict) else {}

    def add_preparation(self, seconds: dict[str, float]) -> None:
        """Add seconds of preparation by part to those of the resumed bake."""
        before = self.preparation()
        total = before | {part: before.get(part, 0.0) + value for part, value in seconds.items()}
        self._note(preparation=total)

    def _note(self, **about: Any) -> None:
        self.check_whole()
        self.check_about()  # without the rest of it no frame would be known again
        write_arrays(self._path("about"), {}, {**self._about(), **about})

    # -- caches -------------------------------------------------------------------------------------------------------

    def read_cached(self, kind: str) -> tuple[dict[str, np.ndarray], dict[str, Any]] | None:
        """Return the arrays of one of ``CACHED`` and their description, or None if unreadable."""
        try:
            return read_arrays(self._path(kind))
        except StoreError:
            return None

    def about_cached(self, kind: str) -> dict[str, Any] | None:
        """Return the description of one of ``CACHED``, without its arrays; None as in :meth:`read_cached`."""
        try:
            return read_about(self._path(kind))
        except StoreError:
            return None

    def write_cached(self, kind: str, arrays: dict[str, np.ndarray], about: dict[str, Any]) -> None:
        """Cache the arrays of one of ``CACHED``."""
        write_arrays(self._path(kind), arrays, about)

    def take_cached(self, other: FrameStore) -> None:
        """Copy another store's tetrahedra and modes; their keys decide if they can be used."""
        for kind in LENT:
            if cached := other.read_cached(kind):
                self.write_cached(kind, *cached)

    def take_over(self, other: FrameStore) -> None:
        """Copy frames, states, tetrahedra, modes and handles of another store, whose job has the same effect on the
        same surface: as when the grabs of a take have become this store's springs. The other store is unchanged.
        """
        self.take_cached(other)
        for kind in ("state", "frame"):
            for frame in other._numbers(kind):
                arrays, about = other._read_own(kind, frame)
                write_arrays(self._path(kind, frame), arrays, about | {"job": self.key()})
        if cached := other.read_cached("handles"):
            self.write_cached("handles", *cached)

    # -- the folder ---------------------------------------------------------------------------------------------------

    def size_on_disk(self) -> int:
        """Return the size of the store, bytes."""
        total = 0
        for path in (self.folder / name for name in self._names()):
            # A running bake deletes old states meanwhile.
            with contextlib.suppress(OSError):
                total += path.stat().st_size if path.is_file() else 0
        return total

    def is_empty(self) -> bool:
        """Return True if the store has neither frames nor expensive results."""
        return not self.frames() and not any(os.path.isfile(self._path(kind)) for kind in CACHED)

    def delete(self, beside: Collection[str] = ()) -> bool:
        """Remove this store's own files and those named ``beside``, and the folder if it is then empty. Return False,
        and change nothing, if no readable data identify such files as a bake's. Raise StoreError on failure or a lock.
        """
        names = [name for name in self._names() if _is_own(name) or name in beside]
        if names:
            if not self.is_known():
                return False
            with locked(self.folder):
                for name in sorted(names, key="about.sinew".__eq__):  # last: leftovers can be deleted later
                    remove(self.folder / name)
        if not os.path.isdir(self.folder) or self._names():
            return True
        with refusing(f"The folder {self.folder} cannot be deleted", "Delete it by hand."):
            self.folder.rmdir()
        return True

    def _path(self, kind: str, frame: int | None = None) -> Path:
        return self.folder / (f"{kind}.sinew" if frame is None else f"{kind}_{frame:06d}.sinew")

    def _names(self) -> list[str]:
        elsewhere = "Choose another folder: for a .blend, save it elsewhere."
        with refusing(f"The folder {self.folder} cannot be read", elsewhere), contextlib.suppress(FileNotFoundError):
            return os.listdir(self.folder)
        return []

    def _numbers(self, kind: str) -> list[int]:
        matches = (_NAME.match(name) for name in self._names())
        return sorted(int(m.group(2)) for m in matches if m and m.group(1) == kind)

    def _delete_frames(self, from_frame: int | None) -> None:
        for kind in ("state", "frame"):
            for frame in self._numbers(kind):
                if from_frame is None or frame >= from_frame:
                    remove(self._path("handles"))
                    remove(self._path(kind, frame))
        for name in self._names():
            if _NAME.match(name.removesuffix(".part")) and name.endswith(".part"):
                remove(self.folder / name)


def _is_own(name: str) -> bool:
    whole = name.removesuffix(".part")
    return whole in _ONLY_ONCE or _NAME.match(whole) is not None


def _is_time(value: Any) -> bool:
    return isinstance(value, (int, float)) and 0.0 <= value < 1e300  # JSON has integers beyond the range of float


def _equal_parts(before: Job, now: Job) -> set[str]:
    """Return the parts in which two jobs of unequal frame ranges are the same over the frames they share."""
    if before.frame_start != now.frame_start or before.frame_rate != now.frame_rate:
        return set()
    end = min(before.frame_end, now.frame_end)
    then = before.until(end).fingerprints()
    return {part for part, digest in now.until(end).fingerprints().items() if then[part] == digest} - {"frame range"}
