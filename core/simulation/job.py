"""A job: everything one bake needs, as arrays and settings, with nothing of Blender in it.

A job is what crosses from an interface to the library, and what the child process reads from the frame store's folder.
It is saved without pickle, as one ``.npz`` whose ``settings`` entry is JSON text.
"""

from __future__ import annotations

import json
import zipfile
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np

from ..errors import ColliderError, FieldError, PinError, SettingsError, SpringError, StoreError
from ..materials.layer import Layer
from ..mesh.surface_mesh import SurfaceMesh
from ..model.settings import Ground, MaterialSettings, ResolutionSettings, SolverSettings, moduli
from ..tracks import at_frames, fits, prolonged, until
from .absorber import Absorber
from .array_file import whole_file
from .fingerprints import fingerprints_of
from .force_field import ForceField
from .job_parts import layer_numbers, layer_of, part, parts_of
from .npz_file import read_npz, write_npz
from .surroundings import Change, Collider, Spring

SLOWEST = 1e-6
"""Frames a second at least; its inverse at most."""

JOB_FORMAT = 3

_OVER_FRAMES = ("pin_positions", "object_to_world", "pin_held", "accelerations", "moduli")


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
        Painted weights; the first material is what is missing to a sum of one (``core/materials/shares.py``).
    layers : tuple of Layer
        Materials laid over what is painted, later ones over earlier ones; in the space of ``surface``.
    stiffness_maps : (n, len(materials)) float64
        How stiff each material with a ``painted_modulus`` is, 0 to 1; zero by default.
    pinned_vertices : (p,) int32
        Surface vertices that are held.
    pin_positions : (samples, p, 3) float64
        A track (``core/tracks.py``) of where they are from ``frame_start`` to ``frame_end``, world space, metres; or
        (p, 3), where they hold still.
    pin_held : (frames, p) bool
        Whether each is still held at each frame; all by default. What is released stays released: later entries are
        made False.
    object_to_world : (samples, 4, 4) float64
        A track of what maps the object's own coordinates to world space in metres, for interfaces that write results
        back. Identity by default.
    fineness : (n,) float64 or None
        How much finer than elsewhere tetrahedra are at each surface vertex, 0 to 1 (``ResolutionSettings.finest``).
    start : (n, 3) float64 or None
        Where the surface is at ``frame_start``, world space, metres; None where the rest shape is.
    springs, colliders : tuples of Spring and of Collider
    ground : Ground or None
    accelerations : (frames, n, 3) float64 or None
        An acceleration that acts beside gravity, at each surface vertex and frame, world space, m/s².
    moduli : (frames, K) float64 or None
        The moduli of the materials (``model.settings.moduli``) at each frame, Pa; None keeps those of the materials,
        which are those of the first frame. Their logarithms go straight from frame to frame.
    force_fields : tuple of ForceField
    absorbers : tuple of Absorber
        What takes from the force fields that name it by its number.
    frame_start, frame_end : int
        Both included. The body is at rest, and at its rest shape or at ``start``, at ``frame_start``.
    pre_roll : int
        How many of the first frames are simulated only to come to what follows: interfaces do not show them.
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
    layers: tuple[Layer, ...] = ()
    object_to_world: np.ndarray | None = None
    resolution: ResolutionSettings = field(default_factory=ResolutionSettings)
    solver: SolverSettings = field(default_factory=SolverSettings)
    springs: tuple[Spring, ...] = ()
    colliders: tuple[Collider, ...] = ()
    ground: Ground | None = None
    pin_held: np.ndarray | None = None
    accelerations: np.ndarray | None = None
    stiffness_maps: np.ndarray | None = None
    moduli: np.ndarray | None = None
    force_fields: tuple[ForceField, ...] = ()
    absorbers: tuple[Absorber, ...] = ()
    pre_roll: int = 0
    fineness: np.ndarray | None = None
    start: np.ndarray | None = None

    def __post_init__(self) -> None:
        store = object.__setattr__
        store(self, "material_weights", np.ascontiguousarray(self.material_weights, dtype=np.float64))
        store(self, "pinned_vertices", np.ascontiguousarray(self.pinned_vertices, dtype=np.int32))
        store(self, "pin_positions", np.ascontiguousarray(self.pin_positions, dtype=np.float64))
        if self.pin_positions.ndim == 2:
            store(self, "pin_positions", np.tile(self.pin_positions, (max(self.frame_count, 0), 1, 1)))
        if self.stiffness_maps is None:
            store(self, "stiffness_maps", np.zeros((len(self.surface.positions), len(self.materials))))
        store(self, "stiffness_maps", np.ascontiguousarray(self.stiffness_maps, dtype=np.float64))
        if self.object_to_world is None:
            store(self, "object_to_world", np.tile(np.eye(4), (max(self.frame_count, 0), 1, 1)))
        store(self, "object_to_world", np.ascontiguousarray(self.object_to_world, dtype=np.float64))
        if self.pin_held is None:
            store(self, "pin_held", np.ones((max(self.frame_count, 0), len(self.pinned_vertices)), dtype=bool))
        store(self, "pin_held", np.logical_and.accumulate(np.atleast_1d(self.pin_held), axis=0))
        for name in ("moduli", "fineness", "start", "accelerations"):
            if getattr(self, name) is not None:
                store(self, name, np.ascontiguousarray(getattr(self, name), dtype=np.float64))
        self._validate()
        self._validate_pins()
        self._validate_surroundings()

    @property
    def frame_count(self) -> int:
        """Frames from start to end, both included."""
        return self.frame_end - self.frame_start + 1

    @property
    def first_positions(self) -> np.ndarray:
        """Where the surface is at ``frame_start``, (n,3), world space, metres."""
        return self.surface.positions if self.start is None else self.start

    @property
    def first_shown(self) -> int:
        """First frame that belongs to the result."""
        return self.frame_start + self.pre_roll

    @property
    def frame_matrices(self) -> np.ndarray:
        """``object_to_world`` at the frames themselves, (frames, 4, 4)."""
        return at_frames(self.object_to_world, self.frame_count)

    @property
    def time_step(self) -> float:
        """Seconds of one substep."""
        return 1.0 / (self.frame_rate * self.solver.substeps)

    def _validate(self) -> None:
        n = len(self.surface.positions)
        if self.frame_count < 1:
            raise SettingsError(
                f"The frame range {self.frame_start}-{self.frame_end} is empty.",
                "Set the end frame after the start frame.",
            )
        if type(self.pre_roll) is not int or not 0 <= self.pre_roll < self.frame_count:
            raise SettingsError(
                f"The pre-roll is {self.pre_roll} of {self.frame_count} frames.", "Leave at least one frame to show."
            )
        rate = self.frame_rate
        if isinstance(rate, bool) or not isinstance(rate, (int, float)) or not SLOWEST <= rate <= 1.0 / SLOWEST:
            raise SettingsError(f"The frame rate is {rate}.", "Set a positive frame rate, such as 24.")
        self._validate_materials(n)
        if self.fineness is not None and not (self.fineness.shape == (n,) and np.isfinite(self.fineness).all()):
            raise SettingsError("What is painted finer is not one number a vertex.", "Paint its map again.")
        if self.start is not None and not (self.start.shape == (n, 3) and np.isfinite(self.start).all()):
            raise SettingsError("The shape at the first frame is not one position a vertex.", "Set Rest Shape again.")
        if self.moduli is not None:
            expected = self.frame_count, len(moduli(self.materials))
            if self.moduli.shape != expected or not (np.isfinite(self.moduli) & (self.moduli > 0.0)).all():
                raise SettingsError(
                    "The stiffness of a material is not a positive number at every frame.",
                    "Check the animation of its stiffness.",
                )
        matrices = self.object_to_world
        if not fits(matrices, self.frame_count) or matrices.shape[1:] != (4, 4):
            raise SettingsError(
                "There must be one object matrix a frame.", "Sample the object's matrix at every frame."
            )
        if not np.isfinite(matrices).all():
            raise SettingsError("The object's matrix is not a number.", "Check the animation of the object.")
        for layer in self.layers:
            layer.check(len(self.materials), n)

    def _validate_materials(self, n: int) -> None:
        if not self.materials:
            raise SettingsError("The body has no physical material.", "Add one under Physical Materials.")
        for what, values in (("weight", self.material_weights), ("stiffness map", self.stiffness_maps)):
            if values.shape != (n, len(self.materials)):
                raise SettingsError(
                    f"The {what}s of the materials have shape {values.shape}, not {(n, len(self.materials))}.",
                    "Give one column a material and one row a vertex.",
                )
            bad = np.argwhere(~np.isfinite(values))
            if len(bad):
                name = self.materials[bad[0][1]].name
                raise SettingsError(
                    f"The {what} of the material “{name}” at vertex {bad[0][0]} is not a number.",
                    "Paint its map there again.",
                )

    def _validate_pins(self) -> None:
        p = len(self.pinned_vertices)
        if not _are_vertices(self.pinned_vertices, len(self.surface.positions)):
            raise PinError("The pinned vertices are no list of vertices of the body.", "Choose the pins again.")
        if not fits(self.pin_positions, self.frame_count) or self.pin_positions.shape[1:] != (p, 3):
            raise PinError(
                f"The pin positions have shape {self.pin_positions.shape}, not {(self.frame_count, p, 3)}.",
                "Give one position a frame and pin, or one a pin that holds still.",
            )
        if not np.isfinite(self.pin_positions).all():
            raise PinError(
                "A pin's position is not a number.", "Check the animation of the object that carries the pins."
            )
        if self.pin_held.shape != (self.frame_count, p):
            raise PinError(
                f"Whether pins are held has shape {self.pin_held.shape}, not {(self.frame_count, p)}.",
                "Give one value a frame and pin.",
            )

    def _validate_surroundings(self) -> None:
        n = len(self.surface.positions)
        for spring in self.springs:
            if not _are_vertices(spring.vertices, n):
                raise SpringError(
                    f"The spring “{spring.name}” holds a vertex that does not exist.", "Choose its vertices again."
                )
            if len(spring.stiffness) != self.frame_count:
                raise SpringError(
                    f"The spring “{spring.name}” has {len(spring.stiffness)} frames, not {self.frame_count}.",
                    "Sample it at every frame.",
                )
        for collider in self.colliders:
            if len(collider.positions) > 1 and not fits(collider.positions, self.frame_count):
                raise ColliderError(
                    f"The collider “{collider.name}” has {len(collider.positions)} frames, not {self.frame_count}.",
                    "Sample it at every frame, or once if it stands still.",
                )
        if any(not 0 <= k < len(self.absorbers) for each in self.force_fields for k in each.absorbers):
            raise FieldError("A force field names an absorber that is not there.", "Name one by its number, from 0.")
        for each in (*self.force_fields, *self.absorbers):
            if not each.fits(self.frame_count):
                raise FieldError(
                    f"“{each.name}” has {each.frames} frames, not {self.frame_count}.",
                    "Sample it at every frame, or once if it never changes.",
                )
        if self.accelerations is None:
            return
        if self.accelerations.shape != (self.frame_count, n, 3):
            raise SettingsError(
                f"The accelerations have shape {self.accelerations.shape}, not {(self.frame_count, n, 3)}.",
                "Give one vector a frame and vertex.",
            )
        bad = np.argwhere(~np.isfinite(self.accelerations))
        if len(bad):
            raise SettingsError(
                f"The acceleration at vertex {bad[0][1]} is not a number at frame {self.frame_start + bad[0][0]}.",
                "Check what makes the field.",
            )

    def check(self) -> None:
        """What can be told at once of whether the job can be simulated; a SinewError where it cannot."""
        from ..energies.registry import energy  # these load Numba, which Blender's start does not wait for
        from ..solvers.registry import solver_class

        solver_class(self.solver.solver)
        for material in self.materials:
            energy(material.energy)
        self.surface.validate()
        for layer in self.layers:
            for surface in layer.surfaces:
                surface.validate()
        if len(np.unique(self.pinned_vertices[self.pin_held[0]])) == len(self.surface.positions):
            raise PinError("Every vertex is pinned: nothing is left to move.", "Remove vertices from the pin group.")

    # -- what it is -----------------------------------------------------------------------------------------------

    def fingerprints(self) -> dict[str, str]:
        """SHA-256 of each part, by the word an artist would use for it; equal jobs have equal fingerprints."""
        return fingerprints_of(self)

    def until(self, frame_end: int) -> Job:
        """The same job, ended earlier."""
        count = frame_end - self.frame_start + 1
        return self._over(frame_end, lambda track: until(track, self.frame_count, count))

    def prolonged(self) -> Job:
        """The same job with a further frame at which everything stays where it is at the last one."""
        return self._over(self.frame_end + 1, lambda track: prolonged(track, self.frame_count))

    def _over(self, frame_end: int, change: Change) -> Job:
        """The same job with another end, and everything that changes over the frames changed to it."""
        own = {name: getattr(self, name) for name in _OVER_FRAMES}
        return replace(
            self,
            frame_end=frame_end,
            springs=tuple(spring.over(change) for spring in self.springs),
            colliders=tuple(collider.over(change) for collider in self.colliders),
            force_fields=tuple(each.over(change) for each in self.force_fields),
            absorbers=tuple(each.over(change) for each in self.absorbers),
            **{name: change(track) for name, track in own.items() if track is not None},
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
            "pre_roll": self.pre_roll,
            "layers": [layer_numbers(layer) for layer in self.layers],
            "springs": [s.name for s in self.springs],
            "colliders": [c.numbers() for c in self.colliders],
            "ground": None if self.ground is None else asdict(self.ground),
            "force_fields": [each.settings() for each in self.force_fields],
            "absorbers": [each.name for each in self.absorbers],
        }
        arrays = {
            "positions": self.surface.positions,
            "triangles": self.surface.triangles,
            "material_weights": self.material_weights,
            "stiffness_maps": self.stiffness_maps,
            "pinned_vertices": self.pinned_vertices,
            "pin_positions": self.pin_positions,
            "object_to_world": self.object_to_world,
            "pin_held": self.pin_held,
        }
        if self.accelerations is not None:
            arrays["accelerations"] = self.accelerations
        named = {"moduli": self.moduli, "fineness": self.fineness, "start": self.start}
        arrays.update({name: array for name, array in named.items() if array is not None})
        kinds = ("layer", self.layers), ("spring", self.springs), ("collider", self.colliders)
        for kind, parts in (*kinds, ("force_field", self.force_fields), ("absorber", self.absorbers)):
            for k, each in enumerate(parts):
                arrays.update({f"{kind}_{k}_{name}": array for name, array in each.arrays().items()})
        with whole_file(Path(path)) as file:
            write_npz(file, {"settings": np.frombuffer(json.dumps(settings).encode(), dtype=np.uint8), **arrays})

    @classmethod
    def load(cls, path: Path) -> Job:
        """Read what :meth:`save` wrote; StoreError when it is not such a file."""
        try:
            arrays = read_npz(Path(path))
            settings = json.loads(arrays.pop("settings").tobytes().decode())
            if settings["format"] != JOB_FORMAT:
                raise ValueError(f"another version of Sinew wrote it: format {settings['format']}")
            if not all(type(frame) is int for frame in settings["frames"]):
                raise ValueError(f"frames {settings['frames']}")
            if type(settings["frame_rate"]) not in (int, float):
                raise ValueError(f"frame rate {settings['frame_rate']}")
            parts = (*settings["colliders"], *settings["force_fields"])
            named = [{"name": name} for name in settings["springs"]]
            absorbers = [{"name": name} for name in settings.get("absorbers", [])]
            if not all(isinstance(each["name"], str) for each in (*named, *absorbers, *parts)):
                raise ValueError("the name of a spring, collider or force field is no text")
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
                layers=tuple(
                    layer_of(numbers, part(arrays, f"layer_{k}_")) for k, numbers in enumerate(settings["layers"])
                ),
                object_to_world=arrays["object_to_world"],
                resolution=ResolutionSettings(**settings["resolution"]),
                solver=SolverSettings(**solver),
                springs=parts_of(Spring, "spring", named, arrays),
                colliders=parts_of(Collider, "collider", settings["colliders"], arrays),
                ground=None if settings["ground"] is None else Ground(**settings["ground"]),
                pin_held=arrays["pin_held"],
                accelerations=arrays.get("accelerations"),
                pre_roll=settings.get("pre_roll", 0),
                stiffness_maps=arrays["stiffness_maps"],
                moduli=arrays.get("moduli"),
                fineness=arrays.get("fineness"),
                start=arrays.get("start"),
                force_fields=parts_of(ForceField, "force_field", settings["force_fields"], arrays),
                absorbers=parts_of(Absorber, "absorber", absorbers, arrays),
            )
        except _UNREADABLE as error:
            raise StoreError(
                f"The job file {Path(path).name} cannot be read ({error}).", "Delete the bake and bake again."
            ) from error


# What zipfile, NumPy, JSON and the making of a job raise at content that is not a job's.
_UNREADABLE = (OSError, EOFError, ValueError, LookupError, TypeError, OverflowError, RuntimeError, zipfile.BadZipFile)


def _are_vertices(indices: np.ndarray, count: int) -> bool:
    return indices.ndim == 1 and (len(indices) == 0 or bool(indices.min() >= 0 and indices.max() < count))
