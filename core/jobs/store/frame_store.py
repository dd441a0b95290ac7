"""Frame store, the cache of a bake: one folder with the job, tetrahedra, frames and the newest solver states.

``array_file`` writes the ``.sinew`` files with checksums, each completely or not at all: a kill at any moment loses no
reported frame.

    job.npz            the simulation's input (``Job.save``)
    about.sinew        format of the store, fingerprints of the job
    mesh.sinew         tetrahedra and embedding
    materials.sinew    materials of the tetrahedra
    subspace.sinew     skinning modes and cubature, where the solver has a subspace
    spectra.sinew      vibrations for a match with a finer body; swing_*.sinew: trial simulations of that body
    touching.sinew     contact points on the surface of a body in a subspace
    skin.sinew         contact surface of a lattice, from which a simulation builds contact (``cached_collision_proxy``)
    display.sinew      data with which an interface draws a body in live mode (``live_service.display_arrays``)
    shapes.sinew       displacements of the surface by vibrations, for display
    meeting.sinew      contact surface of the body, for display only
    handles.sinew      the frames as handles blended by weights (``cached_handles``)
    difference.sinew   distance of the frames from those of another bake; compared.sinew: the key of that bake
    frame_000012.sinew positions (world space, m) and contact pressure of the render surface; on request also its
                       stress, and positions of the tets' vertices
    lock               exists while a process writes to the store (``store_lock``)
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
from ..job.job_changes import described, equal_parts
from .store_lock import locked

STORE_FORMAT = 10
"""Version of the store. Raise it when a bake must not continue older files. Older files then count as outdated."""
KEPT_STATES = 2
ABOUT_LIMIT = 2**16
"""Largest size of the header of ``about.sinew``, bytes. Usual are some kilobytes, since panels read the header often.
"""
TRAJECTORIES = ("swing_slowest", "swing_turning", "swing_thin", "swing_long")
"""Names of cached reference trajectories, one per load of the trial simulation."""
CACHED = (
    *("mesh", "materials", "subspace", "spectra", *TRAJECTORIES, "shapes", "touching", "skin", "display", "meeting"),
    *("handles", "difference", "compared"),
)
"""Names of cached results. Each may be deleted at any time. Most hold a key of the data that they were made from."""
LENT = ("mesh", "materials", "subspace", "spectra", *TRAJECTORIES, "touching", "skin")
"""Names of cached results that another store can use."""
_NAME = re.compile(r"^(frame|state)_(-?\d{5,})\.sinew$")
_ONLY_ONCE = frozenset({"job.npz", "about.sinew", *(f"{kind}.sinew" for kind in CACHED)})


class FrameStore:
    """Access to the files of one bake in a folder. The constructor accesses no files."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self._known_key: str | None = None
        self._known_vertices: int | None = None

    @classmethod
    def create(cls, folder: Path | str, job: Job, with_stress: bool = False) -> FrameStore:
        """Return a store in ``folder`` for a job, and delete earlier frames there.

        Cached results are kept if the earlier job has the same mesh and resolution. ``with_stress``: True if bakes
        store the stress on the surface, too. Raises a SinewError, and changes nothing, if the job has several bodies or
        fails ``Job.check``."""
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
            # The job is removed first and written last: without it the store does not count as a bake.
            remove(store.folder / "job.npz")
            about = {"format": STORE_FORMAT, "fingerprints": job.fingerprints(), "with_stress": with_stress}
            write_arrays(store._path("about"), {}, about)
            job.save(store.folder / "job.npz")
        store._known_vertices = vertices
        return store

    @classmethod
    def open(cls, folder: Path | str) -> FrameStore:
        """Return an existing store. Raises StoreError if there is none."""
        store = cls(folder)
        if not store.exists():
            raise StoreError(f"There is no bake in {store.folder}.", "Bake first.")
        return store

    def exists(self) -> bool:
        """Return True if the folder holds a job and the description of a bake."""
        return os.path.isfile(self.folder / "job.npz") and os.path.isfile(self._path("about"))

    def job(self) -> Job:
        """Return the job of the bake in this store. Raises StoreError if it cannot be read or has several bodies."""
        job = Job.load(self.folder / "job.npz")
        if len(job.bodies) > 1:
            raise StoreError(f"The job in {self.folder} has several bodies.", "Delete the bake and bake again.")
        self._known_vertices = len(job.body.surface.positions)
        return job

    def is_known(self) -> bool:
        """Return True if the folder has a readable ``about.sinew``, the description of a bake."""
        return bool(self._about())

    def check_about(self) -> None:
        """Raise StoreError if ``about.sinew``, the description of the bake, cannot be read."""
        if not self.is_known():
            raise StoreError(f"The record of the bake in {self.folder} is damaged.", "Bake again.")

    def check_whole(self, frames: range = range(0)) -> None:
        """Raise StoreError if ``job.npz``, ``about.sinew`` or the file of one of ``frames`` was deleted."""
        gone = [name for name in ("job.npz", "about.sinew") if not os.path.isfile(self.folder / name)]
        if gone:
            raise StoreError(f"{gone[0]} in {self.folder} was deleted during the bake.", "Bake again.")
        if lost := sorted(set(frames).difference(self.frames() if frames else ())):
            raise StoreError(
                f"{len(lost)} frames in {self.folder} were deleted during the bake, the first is {lost[0]}.",
                "Resume the bake to compute them again.",
            )

    def mend_job(self, job: Job) -> None:
        """Write ``job.npz`` again if it is damaged. ``job`` must equal the baked job (:meth:`outdated_by` is empty)."""
        try:
            self.job()
        except StoreError:
            job.save(self.folder / "job.npz")

    def fingerprints(self) -> dict[str, str]:
        """Return the SHA-256 per named part of the baked job, or {} if they are unreadable."""
        found = self._about().get("fingerprints")
        return found if isinstance(found, dict) else {}

    def has_tetrahedra_of(self, job: Job) -> bool:
        """Return True if the stored tetrahedra fit a job: mesh, resolution and store version are the same."""
        return not {"version", "mesh", "resolution"} & set(self.outdated_by(job))

    def outdated_by(self, job: Job) -> list[str]:
        """Return the names of the parts (mesh, materials, pins ...) in which a job differs from the baked job.
        The result is ``version`` alone if another version of Sinew made the store."""
        about = self._about()
        if about and about.get("format") != STORE_FORMAT:
            return ["version"]
        before = self.fingerprints()
        changed = [part for part, digest in job.fingerprints().items() if before.get(part) != digest]
        if "frame range" in changed and self.exists():
            with contextlib.suppress(StoreError):  # a damaged job counts as different
                alike = equal_parts(self.job(), job)
                changed = [part for part in changed if part not in alike]
        # A change of one of these parts explains a change of the samples between frames.
        follows = any(part in changed for part in ("pins", "springs", "collisions", "ties", "solver", "animation"))
        return [part for part in changed if part != BETWEEN_FRAMES] if follows else changed

    def changes(self, job: Job) -> list[str]:
        """Return the parts of :meth:`outdated_by` with their changed values: ``solver (substeps 1 → 2)``."""
        parts = self.outdated_by(job)
        return parts if not parts or parts == ["version"] else described(parts, self.job(), job)

    def _about(self) -> dict[str, Any]:
        try:
            return read_about(self._path("about"), ABOUT_LIMIT)
        except StoreError:
            return {}

    def frames(self) -> list[int]:
        """Return the numbers of the stored frames, ascending. The files are not read."""
        return self._numbers("frame")

    def read(self, frame: int) -> np.ndarray:
        """Return the surface positions of a frame, (n,3) float64, m, in world space.
        Raises CorruptFrameError for a damaged frame, and StoreError for a missing frame."""
        return self._read_frame(frame)[0]["positions"]

    def pressure(self, frame: int) -> np.ndarray | None:
        """Return the contact pressure per surface vertex at a frame, (n,) float32 Pa, or None without contact."""
        return self._on_surface(frame, "pressure")

    def stress(self, frame: int) -> np.ndarray | None:
        """Return the von Mises stress per surface vertex at a frame, (n,) float32 Pa, or None if it was not stored."""
        return self._on_surface(frame, "stress")

    def _on_surface(self, frame: int, name: str) -> np.ndarray | None:
        values = self._read_frame(frame)[0].get(name)
        fits = values is not None and values.shape == (self._vertices(),) and values.dtype == np.float32
        return values if fits and np.isfinite(values).all() and (values >= 0.0).all() else None

    def keeps_stress(self) -> bool:
        """Return True if frames are stored with the stress on the surface."""
        return self._about().get("with_stress") is True

    def vertices(self, frame: int) -> np.ndarray:
        """Return the positions of the tet vertices at a frame, (v,3) m. Raises StoreError if they were not stored."""
        found = self._read_frame(frame)[0].get("vertices")
        if found is None or found.ndim != 2 or found.shape[1] != 3:
            raise StoreError(f"Frame {frame} was stored without its tetrahedra.", "Simulate into another folder.")
        return found

    def about(self, frame: int) -> dict[str, Any]:
        """Return a frame's description: ``reports`` of its steps (dicts), ``seconds``, and ``peak_memory`` (bytes)."""
        return self._read_frame(frame)[1]

    def _read_frame(self, frame: int) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        arrays, about = self._read_own("frame", frame)
        positions, reports, n = arrays.get("positions"), about.setdefault("reports", []), self._vertices()
        whole = positions is not None and positions.shape == (n, 3) and positions.dtype == np.float64
        if not (whole and np.isfinite(positions).all()):
            raise self._misfit("frame", frame, f"it does not hold {n} positions")
        if not (isinstance(reports, list) and all(isinstance(report, dict) for report in reports)):
            raise self._misfit("frame", frame, "the reports of its steps are invalid")
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
        stress: np.ndarray | None = None,
    ) -> None:
        """Store a frame. On return, all data are safe on disk.

        ``surface`` (n,3), m: surface positions. ``state``: solver state to resume from. ``reports``: of all steps.
        ``seconds``: computing time, s.
        ``pressure``, ``stress`` (n,), Pa: contact pressure, and von Mises stress.
        ``vertices`` (v,3), m: positions of the tet vertices."""
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
        if stress is not None:
            arrays["stress"] = np.minimum(stress, np.finfo(np.float32).max).astype(np.float32)
        write_arrays(self._path("frame", frame), arrays, {**whose, **about})
        for old in self._numbers("state")[:-KEPT_STATES]:
            remove(self._path("state", old))

    def last_state(self, first_frame: int, until: int | None = None) -> tuple[int, State] | None:
        """Return the number of the newest frame from which a bake can resume, and its solver state.

        The state and all frames from ``first_frame`` to this frame must be readable. Frames after ``until`` are
        ignored. The result is None if there is no such frame."""
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
        """Return the number of vertices of the job's surface."""
        if self._known_vertices is None:
            self.job()
        return self._known_vertices

    def key(self) -> str:
        """Return the SHA-256 of the job's fingerprints, by which files of another bake are detected."""
        if self._known_key is None:
            self._known_key = hashlib.sha256(json.dumps(self.fingerprints(), sort_keys=True).encode()).hexdigest()
        return self._known_key

    def keep_until(self, frame: int | None) -> None:
        """Delete all frames and states after ``frame``, or all for None, and incomplete files of a killed process."""
        self._delete_frames(from_frame=None if frame is None else frame + 1)

    def linear_solver(self) -> tuple[str, str] | None:
        """Return the name of the bake's linear solver and the reason for its choice, or None if unknown."""
        cached = self._about().get("linear_solver")
        if isinstance(cached, list) and len(cached) == 2 and all(isinstance(text, str) for text in cached):
            return cached[0], cached[1]
        return None

    def keep_linear_solver(self, name: str, reason: str) -> None:
        """Store the linear solver and the reason for its choice, for a resumed bake."""
        if self.linear_solver() != (name, reason):
            self._note(linear_solver=[name, reason])

    def match(self) -> str:
        """Return a description of the body's match with a finer body, or "" without a match."""
        words = self._about().get("match")
        return words if isinstance(words, str) else ""

    def keep_match(self, words: str) -> None:
        """Store the description of the match, for the report of the bake."""
        if self.match() != words:
            self._note(match=words)

    def preparation(self) -> dict[str, float]:
        """Return the computing time before the first frame, s, by task, or {} if unknown."""
        cached = self._about().get("preparation")
        return {str(k): float(v) for k, v in cached.items() if _is_time(v)} if isinstance(cached, dict) else {}

    def add_preparation(self, seconds: dict[str, float]) -> None:
        """Add ``seconds``, the computing time of each task before the first frame, to the stored times."""
        before = self.preparation()
        total = before | {part: before.get(part, 0.0) + value for part, value in seconds.items()}
        self._note(preparation=total)

    def _note(self, **about: Any) -> None:
        self.check_whole()
        self.check_about()  # a damaged description must not be replaced by this entry alone
        write_arrays(self._path("about"), {}, {**self._about(), **about})

    def read_cached(self, kind: str) -> tuple[dict[str, np.ndarray], dict[str, Any]] | None:
        """Return arrays and description of the cached result ``kind``, one of ``CACHED``, or None if unreadable."""
        try:
            return read_arrays(self._path(kind))
        except StoreError:
            return None

    def about_cached(self, kind: str) -> dict[str, Any] | None:
        """Return the description of the cached result ``kind``, without its arrays, or None if unreadable."""
        try:
            return read_about(self._path(kind))
        except StoreError:
            return None

    def write_cached(self, kind: str, arrays: dict[str, np.ndarray], about: dict[str, Any]) -> None:
        """Store arrays and description of the cached result ``kind``. Raises ValueError if ``kind`` is not in
        ``CACHED``."""
        if kind not in CACHED:
            raise ValueError(f"{kind} is not a name of a cached result")
        write_arrays(self._path(kind), arrays, about)

    def take_cached(self, other: FrameStore) -> None:
        """Copy the shareable cached results (``LENT``) from the store ``other``, without validation."""
        for kind in LENT:
            if cached := other.read_cached(kind):
                self.write_cached(kind, *cached)

    def take_over(self, other: FrameStore) -> None:
        """Copy frames, states, handles and shareable cached results (``LENT``) from the store ``other``.
        Both jobs must give the same motion of the same surface, such as a live recording and a bake of the recording.
        """
        self.take_cached(other)
        for kind in ("state", "frame"):
            for frame in other._numbers(kind):
                arrays, about = other._read_own(kind, frame)
                write_arrays(self._path(kind, frame), arrays, about | {"job": self.key()})
        if cached := other.read_cached("handles"):
            self.write_cached("handles", *cached)

    def size_on_disk(self) -> int:
        """Return the size of all files of the store, bytes."""
        total = 0
        for path in (self.folder / name for name in self._names()):
            # A running bake may delete old states meanwhile.
            with contextlib.suppress(OSError):
                total += path.stat().st_size if path.is_file() else 0
        return total

    def is_empty(self) -> bool:
        """Return True if the store has neither frames nor cached results."""
        return not self.frames() and not any(os.path.isfile(self._path(kind)) for kind in CACHED)

    def delete(self, beside: Collection[str] = ()) -> bool:
        """Delete the store's files, the files ``beside`` in its folder, and the folder if it is then empty.

        Return False, and delete nothing, if there are such files but no readable ``about.sinew``. Raises StoreError if
        the deletion fails or the store is locked."""
        names = [name for name in self._names() if _is_own(name) or name in beside]
        if names:
            if not self.is_known():
                return False
            with locked(self.folder):
                for name in sorted(names, key="about.sinew".__eq__):  # last: it identifies the others
                    remove(self.folder / name)
        if not os.path.isdir(self.folder) or self._names():
            return True
        with refusing(f"The folder {self.folder} cannot be deleted", "Delete it by hand."):
            self.folder.rmdir()
        return True

    def _path(self, kind: str, frame: int | None = None) -> Path:
        return self.folder / (f"{kind}.sinew" if frame is None else f"{kind}_{frame:06d}.sinew")

    def _names(self) -> list[str]:
        elsewhere = "Choose another folder. In Blender, save the .blend in another folder."
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
