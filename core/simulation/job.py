"""A job: everything one bake needs, as arrays and settings, with nothing of Blender in it.

A job is what crosses from an interface to the library, and what the child process reads from the frame store's folder.
It is saved without pickle, as one ``.npz`` whose ``settings`` entry is JSON text.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import re
import zipfile
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import IO

import numpy as np

from ..errors import PinError, SettingsError, StoreError
from ..mesh.surface_mesh import SurfaceMesh
from ..model.settings import MaterialSettings, ResolutionSettings, SolverSettings
from .array_file import write_whole

JOB_FORMAT = 1


@dataclass(frozen=True)
class Region:
    """A closed surface inside the body whose tetrahedra are made of one material (a bone in flesh).

    ``surface`` in the same space as the job's surface; ``material`` indexes the job's materials.
    """

    surface: SurfaceMesh
    material: int


@dataclass(frozen=True)
class Job:
    """One body over a range of frames.

    Attributes
    ----------
    surface : SurfaceMesh
        The rest shape in world space, metres (n vertices).
    materials : tuple of MaterialSettings
        At least one.
    material_weights : (n, len(materials)) float64
        Painted weights, not normalised; a vertex without any weight gets the first material.
    regions : tuple of Region
    pinned_vertices : (p,) int32
        Surface vertices that are held.
    pin_positions : (frames, p, 3) float64
        Where they are at each frame from ``frame_start`` to ``frame_end``, world space, metres.
    object_to_world : (frames, 4, 4) float64
        Maps the object's own coordinates to world space in metres at each frame, for interfaces that write results
        back; the simulation itself never reads it. Identity by default.
    frame_start, frame_end : int
        Both included. The body is at rest, at its rest shape, at ``frame_start``.
    frame_rate : float
        Frames a second.
    """

    surface: SurfaceMesh
    materials: tuple[MaterialSettings, ...]
    material_weights: np.ndarray
    pinned_vertices: np.ndarray
    pin_positions: np.ndarray
    frame_start: int
    frame_end: int
    frame_rate: float
    regions: tuple[Region, ...] = ()
    object_to_world: np.ndarray | None = None
    resolution: ResolutionSettings = field(default_factory=ResolutionSettings)
    solver: SolverSettings = field(default_factory=SolverSettings)

    def __post_init__(self) -> None:
        store = object.__setattr__
        store(self, "material_weights", np.ascontiguousarray(self.material_weights, dtype=np.float64))
        store(self, "pinned_vertices", np.ascontiguousarray(self.pinned_vertices, dtype=np.int32))
        store(self, "pin_positions", np.ascontiguousarray(self.pin_positions, dtype=np.float64))
        if self.object_to_world is None:
            store(self, "object_to_world", np.tile(np.eye(4), (max(self.frame_count, 0), 1, 1)))
        store(self, "object_to_world", np.ascontiguousarray(self.object_to_world, dtype=np.float64))
        self._validate()

    @property
    def frame_count(self) -> int:
        """Frames from start to end, both included."""
        return self.frame_end - self.frame_start + 1

    @property
    def time_step(self) -> float:
        """Seconds of one substep."""
        return 1.0 / (self.frame_rate * self.solver.substeps)

    def _validate(self) -> None:
        n, p = len(self.surface.positions), len(self.pinned_vertices)
        if self.frame_count < 1:
            raise SettingsError(
                f"The frame range {self.frame_start}-{self.frame_end} is empty.",
                "Set the end frame after the start frame.",
            )
        if not (np.isfinite(self.frame_rate) and self.frame_rate > 0):
            raise SettingsError(f"The frame rate is {self.frame_rate}.", "Set a positive frame rate.")
        if not self.materials:
            raise SettingsError("The body has no physical material.", "Add one under Physical Materials.")
        if self.material_weights.shape != (n, len(self.materials)):
            raise SettingsError(
                f"The material weights have shape {self.material_weights.shape}, not {(n, len(self.materials))}.",
                "Give one column a material and one row a vertex.",
            )
        if not np.isfinite(self.material_weights).all():
            raise SettingsError(
                "A material weight is not a number.", "Paint the map again at the vertices without a value."
            )
        if p and (self.pinned_vertices.min() < 0 or self.pinned_vertices.max() >= n):
            raise PinError("A pinned vertex does not exist.", "Choose the pins again.")
        if self.pin_positions.shape != (self.frame_count, p, 3):
            raise PinError(
                f"The pin positions have shape {self.pin_positions.shape}, not {(self.frame_count, p, 3)}.",
                "Give one position a frame and pin.",
            )
        if not np.isfinite(self.pin_positions).all():
            raise PinError(
                "A pin's position is not a number.", "Check the animation of the object that carries the pins."
            )
        if self.object_to_world.shape != (self.frame_count, 4, 4):
            raise SettingsError(
                "There must be one object matrix a frame.", "Sample the object's matrix at every frame."
            )
        for region in self.regions:
            if not 0 <= region.material < len(self.materials):
                raise SettingsError(
                    "A region names a material that does not exist.", "Choose the region's material again."
                )

    def check(self) -> None:
        """What can be told at once of whether the job can be simulated; MeshError or PinError where it cannot."""
        self.surface.validate()
        for region in self.regions:
            region.surface.validate()
        if len(np.unique(self.pinned_vertices)) == len(self.surface.positions):
            raise PinError("Every vertex is pinned: nothing is left to move.", "Remove vertices from the pin group.")

    # -- what it is -----------------------------------------------------------------------------------------------

    def fingerprints(self) -> dict[str, str]:
        """SHA-256 of each part, by the word an artist would use for it; equal jobs have equal fingerprints."""
        return {
            "mesh": _digest(self.surface.positions, self.surface.triangles),
            "resolution": _digest(json.dumps(asdict(self.resolution), sort_keys=True)),
            "materials": _digest(
                json.dumps([asdict(m) for m in self.materials], sort_keys=True),
                self.material_weights,
                *(a for r in self.regions for a in (r.surface.positions, r.surface.triangles, np.array(r.material))),
            ),
            "pins": _digest(self.pinned_vertices),
            "solver": _digest(json.dumps(asdict(self.solver), sort_keys=True)),
            "frame range": _digest(np.array([self.frame_start, self.frame_end]), np.array(self.frame_rate)),
            "animation": _digest(self.pin_positions, self.object_to_world),
        }

    def until(self, frame_end: int) -> Job:
        """The same job, ended earlier."""
        count = frame_end - self.frame_start + 1
        return replace(
            self,
            frame_end=frame_end,
            pin_positions=self.pin_positions[:count],
            object_to_world=self.object_to_world[:count],
        )

    # -- to and from a file ---------------------------------------------------------------------------------------

    def save(self, path: Path) -> None:
        """Write the job to one ``.npz`` file; StoreError when that fails."""
        settings = {
            "format": JOB_FORMAT,
            "materials": [asdict(m) for m in self.materials],
            "resolution": asdict(self.resolution),
            "solver": asdict(self.solver),
            "frames": [self.frame_start, self.frame_end],
            "frame_rate": self.frame_rate,
            "region_materials": [r.material for r in self.regions],
        }
        arrays = {
            "positions": self.surface.positions,
            "triangles": self.surface.triangles,
            "material_weights": self.material_weights,
            "pinned_vertices": self.pinned_vertices,
            "pin_positions": self.pin_positions,
            "object_to_world": self.object_to_world,
        }
        for k, region in enumerate(self.regions):
            arrays[f"region_{k}_positions"] = region.surface.positions
            arrays[f"region_{k}_triangles"] = region.surface.triangles
        buffer = io.BytesIO()
        np.savez(buffer, settings=np.frombuffer(json.dumps(settings).encode(), dtype=np.uint8), **arrays)
        with buffer.getbuffer() as content:
            write_whole(Path(path), content)

    @classmethod
    def load(cls, path: Path) -> Job:
        """Read what :meth:`save` wrote; StoreError when it is not such a file."""
        try:
            arrays = _read_npz(Path(path))
            settings = json.loads(arrays.pop("settings").tobytes().decode())
            if settings["format"] != JOB_FORMAT:
                raise ValueError(f"another version of Sinew wrote it: format {settings['format']}")
            if not all(type(frame) is int for frame in settings["frames"]):
                raise ValueError(f"frames {settings['frames']}")
            solver = settings["solver"]
            solver["gravity"] = tuple(solver["gravity"])
            return cls(
                surface=SurfaceMesh(arrays["positions"], arrays["triangles"]),
                materials=tuple(MaterialSettings(**m) for m in settings["materials"]),
                material_weights=arrays["material_weights"],
                pinned_vertices=arrays["pinned_vertices"],
                pin_positions=arrays["pin_positions"],
                frame_start=settings["frames"][0],
                frame_end=settings["frames"][1],
                frame_rate=settings["frame_rate"],
                regions=tuple(
                    Region(SurfaceMesh(arrays[f"region_{k}_positions"], arrays[f"region_{k}_triangles"]), m)
                    for k, m in enumerate(settings["region_materials"])
                ),
                object_to_world=arrays["object_to_world"],
                resolution=ResolutionSettings(**settings["resolution"]),
                solver=SolverSettings(**solver),
            )
        except _UNREADABLE as error:
            raise StoreError(
                f"The job file {Path(path).name} cannot be read ({error}).", "Delete the bake and bake again."
            ) from error


# What zipfile, NumPy, JSON and the making of a job raise at content that is not a job's.
_UNREADABLE = (
    OSError,
    EOFError,
    ValueError,
    LookupError,
    TypeError,
    OverflowError,
    RuntimeError,
    zipfile.BadZipFile,
)


def _read_npz(path: Path) -> dict[str, np.ndarray]:
    """Arrays of an uncompressed ``.npz``; ValueError where one claims more than is there, before it is allocated."""
    arrays = {}
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        stored = all(m.compress_type == zipfile.ZIP_STORED and m.file_size == m.compress_size for m in members)
        if not stored or sum(m.file_size for m in members) > path.stat().st_size:
            raise ValueError("it claims more than it holds")
        for member in members:
            with archive.open(member) as file:
                arrays[member.filename.removesuffix(".npy")] = _read_npy(file)
    return arrays


def _read_npy(file: IO[bytes]) -> np.ndarray:
    """One array. The header is matched, not handed to NumPy, which evaluates it as Python's literals and trusts it."""
    data = file.read()
    at = 10 + int.from_bytes(data[8:10], "little")
    header = _NPY_HEADER.fullmatch(data[10:at])
    if data[:8] != _NPY_MAGIC or header is None:
        raise ValueError("it holds an array of a kind that is never saved")
    kind, fortran, sides = (group.decode() for group in header.groups())
    shape = tuple(int(side) for side in sides.replace(",", " ").split())
    if math.prod(shape) * np.dtype(kind).itemsize != len(data) - at:
        raise ValueError("an array claims more than it holds")
    order = "F" if fortran == "True" else "C"
    return np.frombuffer(memoryview(data)[at:], dtype=kind).reshape(shape, order=order).copy()


_NPY_MAGIC = b"\x93NUMPY\x01\x00"
_NPY_HEADER = re.compile(
    rb"\{'descr': '([<|][fiub][1248])', 'fortran_order': (True|False), 'shape': \(([0-9, ]{0,200})\), \} *\n"
)


def _digest(*parts: str | np.ndarray) -> str:
    sha = hashlib.sha256()
    for part in parts:
        if isinstance(part, str):
            sha.update(part.encode())
        else:
            sha.update(str((part.shape, part.dtype.str)).encode())
            sha.update(np.ascontiguousarray(part).tobytes())
    return sha.hexdigest()
