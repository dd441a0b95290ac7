"""Body of a job: its surface, materials, pins, and contact partners.

The metadata of a field (``core/foundation/schema/field_metadata.py``) says which fingerprint it belongs to, whether it
varies over the frames, and its name for artists. Saving, conversion to other frames and the list of edits derive from
it.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...foundation.errors import ColliderError, FieldError, MeshError, PinError, SettingsError, SpringError
from ...foundation.schema.declared_types import array_of, checked, coerce
from ...foundation.schema.field_metadata import field_spec, lengths
from ...foundation.schema.settings import ContactSettings, MaterialSettings, ResolutionSettings, SolverSettings, moduli
from ...foundation.schema.solver_kinds import solver_kind
from ...foundation.schema.tracks import fits
from ...geometry.mesh.surface_mesh import SurfaceMesh
from ...geometry.mesh.tet_mesh import checked_tets
from ...mechanics.materials.layer import Layer
from .absorber import Absorber
from .environment import Collider, Ground, Spring
from .force_field import ForceField
from .pair import PairSettings

VIBRATION_STIFFNESS = 0.1, 10.0
"""Lowest and highest factor on the stiffness of a vibration."""
MOST_CONTROLLED = 40
"""Largest number of controlled vibrations, equal to the largest number of matched ones."""
MOST_NODES = 200
"""Largest number of dynamic nodes: each costs three right-hand sides a step."""


@dataclass(frozen=True)
class GroupMember:
    """Another body of a group: its name, and a digest, 32 bytes, of all its data."""

    name: str
    digest: np.ndarray = field_spec("something of it", dtype=np.uint8)

    def __post_init__(self) -> None:
        coerce(self, SettingsError, "Group member")


@dataclass(frozen=True, kw_only=True)
class Body:
    """One body, over the frames of its job. A collider or field shared by several bodies is passed to each as one
    object, to be in memory once.

    Attributes
    ----------
    name : str
        For messages, and the folder of its frames; bodies of one job have different ones.
    surface : SurfaceMesh
        The rest shape in world space, metres (n vertices).
    tets : (m, 4) int32 or None
        Tetrahedra over the vertices of ``surface``, all of which they use, positively oriented; None if ``resolution``
        makes them. :meth:`of_tets` makes such a body.
    materials : tuple of MaterialSettings
        At least one; a single one may be given by itself.
    material_weights : (n, len(materials)) float64
        Painted weights; the first material fills up to a sum of one
        (``core/mechanics/materials/weight_normalization.py``). None by default.
    tet_materials : (m,) int32 or None
        Index of the material of each of ``tets``, from 0, instead of weights.
    layers : tuple of Layer
        Materials on top of the painted ones, later ones over earlier ones; in the space of ``surface``.
    stiffness_maps : (n, len(materials)) float64
        Relative stiffness of each material with a ``painted_modulus``, 0 to 1; zero by default.
    pinned_vertices : (p,) int32
        Pinned surface vertices, or a mask (n,) bool of them; none by default.
    pin_positions : (samples, p, 3) float64
        A track (``core/foundation/schema/tracks.py``) of their positions from the job's first frame to its last, world
        space, metres; or (p, 3), if they hold still, by default at rest.
    pin_held : (frames, p) bool
        True while a pin is held at a frame; all by default. Released pins stay released: later entries become False.
    object_to_world : (samples, 4, 4) float64
        A track of the map from the object's own coordinates to world space in metres, for interfaces that write
        results back. Identity by default.
    refinement : (n,) float64 or None
        Refinement of the tetrahedra at each surface vertex, 0 to 1 (``ResolutionSettings.refine_factor``).
    initial_shape : (n, 3) float64 or None
        Surface positions at the first frame, world space, metres; None for the rest shape.
    goal : Spring or None
        Springs from surface vertices to their animated positions, each by its own weight and its part of the surface's
        area. ``stiffness`` is their strength: in units of the softest of the materials' moduli times the body's size,
        for all of the surface with weights of 1 (``goal_stiffness`` in ``core/mechanics/forces/springs.py``).
    springs : tuple of Spring
    colliders : tuple of Ground and Collider
        Colliders of the body; contacts are summed in this order.
    contact : ContactSettings
        Contact with the job's other bodies, and self-contact.
    contact_with : tuple of str or None
        Names of the bodies that it collides with; None for all that collide with bodies.
    pairs : tuple of PairSettings
        Settings for it and one other body or collider, each at most once.
    group_members : tuple of GroupMember
        The bodies that were baked together with it. ``groups.py`` sets them.
    group_index : int
        Index of the body among all bodies of its group, set with ``group_members``.
    accelerations : (frames, n or 1, 3) float64 or None
        Acceleration beside gravity, at each frame and surface vertex, or uniform, world space, m/s². It includes
        changes of gravity over the frames.
    moduli : (frames, K) float64 or None
        The moduli of the materials (``settings.moduli``) at each frame, Pa; None keeps those of the materials, which
        are those of the first frame. Their logarithms are interpolated linearly between frames.
    vibration_stiffness : (frames, k) float64 or None
        Factor on the stiffness of each of the body's k lowest vibrations at each frame, within ``VIBRATION_STIFFNESS``;
        higher vibrations keep theirs. Logarithms are interpolated linearly between frames. None without control.
    force_fields : tuple of ForceField
    absorbers : tuple of Absorber
        Surfaces that absorb the force fields that name their indices.
    solver : SolverSettings
    dynamic_nodes : (k,) int32
        Surface vertices at which the body's motion is stepped, ascending, each once; the rest follows quasistatically.
        Only solvers that take nodes read them.
    """

    name: str = ""
    surface: SurfaceMesh = field_spec("", word="mesh")
    tets: np.ndarray | None = field_spec("tetrahedra", word="mesh", default=None, dtype=np.int32, counted=True)
    resolution: ResolutionSettings = field_spec("", word="resolution", default_factory=ResolutionSettings)
    refinement: np.ndarray | None = field_spec(
        "where it is finer", word="resolution", default=None, dtype=np.float64, rules=("resolution.refine_factor",)
    )
    materials: tuple[MaterialSettings, ...] = field_spec(word="materials")
    material_weights: np.ndarray | None = field_spec(
        "map of", word="materials", default=None, dtype=np.float64, each_of="materials", filled=True
    )
    tet_materials: np.ndarray | None = field_spec("tetrahedra's", word="materials", default=None, dtype=np.int32)
    stiffness_maps: np.ndarray | None = field_spec(
        "stiffness map of", word="materials", default=None, dtype=np.float64, each_of="materials", filled=True
    )
    layers: tuple[Layer, ...] = field_spec("place of", word="materials", default=(), each_of="materials")
    moduli: np.ndarray | None = field_spec(
        "keyed stiffness", word="materials", default=None, dtype=np.float64, over_frames=True
    )
    pinned_vertices: np.ndarray = field_spec("vertices", word="pins", default=(), dtype=np.int32, counted=True)
    pin_held: np.ndarray | None = field_spec(
        "their release", word="pins", default=None, dtype=bool, over_frames=True, filled=True
    )
    goal: Spring | None = field_spec("goal", word="pins", default=None)
    springs: tuple[Spring, ...] = field_spec("spring", word="springs", default=())
    colliders: tuple[Ground | Collider, ...] = field_spec("collider", word="collisions", default=())
    contact: ContactSettings = field_spec("contact", word="collisions", default_factory=ContactSettings)
    contact_with: tuple[str, ...] | None = field_spec("the bodies it collides with", word="collisions", default=None)
    pairs: tuple[PairSettings, ...] = field_spec("pair", word="collisions", default=())
    group_members: tuple[GroupMember, ...] = field_spec("body", word="collisions", default=())
    group_index: int = field_spec("its index among the bodies of its group", word="collisions", default=0)
    accelerations: np.ndarray | None = field_spec(
        "acceleration", word="fields", default=None, dtype=np.float64, over_frames=True
    )
    force_fields: tuple[ForceField, ...] = field_spec(word="fields", default=())
    absorbers: tuple[Absorber, ...] = field_spec(word="fields", default=())
    solver: SolverSettings = field_spec("", word="solver", default_factory=SolverSettings)
    dynamic_nodes: np.ndarray = field_spec("dynamic nodes", word="solver", default=(), dtype=np.int32, counted=True)
    vibration_stiffness: np.ndarray | None = field_spec(
        "stiffness of vibrations", word="solver", default=None, dtype=np.float64, over_frames=True
    )
    object_to_world: np.ndarray | None = field_spec(
        "the object", word="animation", default=None, dtype=np.float64, over_frames=True, filled=True
    )
    pin_positions: np.ndarray | None = field_spec(
        "the pins", word="animation", default=None, dtype=np.float64, over_frames=True, filled=True
    )
    initial_shape: np.ndarray | None = field_spec(
        "the shape at the first frame", word="animation", default=None, dtype=np.float64
    )

    def __post_init__(self) -> None:
        if not isinstance(self.surface, SurfaceMesh):
            kind = type(self.surface).__name__
            raise MeshError(f"The surface is a {kind}.", "Give a Surface: of arrays, by of_faces, or by read_surface.")
        rest = self.surface.positions
        pinned = array_of(self.pinned_vertices, PinError, "Body: pinned vertices")
        if pinned.dtype == bool and pinned.shape == (len(rest),):
            object.__setattr__(self, "pinned_vertices", np.flatnonzero(pinned))
        elif pinned.size and pinned.dtype.kind not in "iu":
            raise PinError(
                f"The pinned vertices are {pinned.dtype} of shape {pinned.shape}.",
                f"Give numbers of vertices, from 0, or a mask of all {len(rest)}.",
            )
        coerce(self, SettingsError, "Body")
        if self.dynamic_nodes.ndim == 1:
            object.__setattr__(self, "dynamic_nodes", np.unique(self.dynamic_nodes))
        for name in ("material_weights", "stiffness_maps"):
            if getattr(self, name) is None:
                object.__setattr__(self, name, np.zeros((len(rest), len(self.materials))))
        if self.pin_positions is None and _are_vertices(self.pinned_vertices, len(rest)):
            object.__setattr__(self, "pin_positions", rest[self.pinned_vertices])

    @classmethod
    @checked(MeshError)
    def of_tets(cls, vertices: np.ndarray, tets: np.ndarray, **fields: Any) -> Body:
        """Make a body of given tetrahedra (m,4) over vertices (n,3), m, with any further fields.

        Frames, pins and weights then refer to all these vertices. Raises MeshError for invalid or inverted tetrahedra.
        """
        from ...geometry.mesh.topology import boundary_triangles

        mesh = checked_tets(vertices, tets)
        surface = SurfaceMesh(mesh.rest_positions, boundary_triangles(mesh.tets))
        return cls(surface=surface, tets=mesh.tets, **fields)

    def with_tracks(self, frames: int, first: int) -> Body:
        """Return the body over ``frames`` frames from number ``first``, with defaults filled in, and validated."""
        if not _are_vertices(self.pinned_vertices, len(self.surface.positions)):
            raise PinError(
                "The pinned vertices are not valid indices of the body's vertices.", "Choose the pins again."
            )
        body, held = copy(self), self.pin_held
        held = np.ones((frames, len(self.pinned_vertices)), dtype=bool) if held is None else np.atleast_1d(held)
        filled = {"pin_held": np.logical_and.accumulate(held, axis=0)}
        if self.object_to_world is None:
            filled["object_to_world"] = np.tile(np.eye(4), (frames, 1, 1))
        if self.pin_positions.ndim == 2 and len(held) == frames:  # else a file could ask for any memory
            filled["pin_positions"] = np.tile(self.pin_positions, (frames, 1, 1))
        for name, array in filled.items():
            object.__setattr__(body, name, array)
        body._validate(frames)
        body._validate_pins(frames)
        body._validate_surroundings(frames, first)
        return body

    @property
    def is_lattice(self) -> bool:
        """True if its tetrahedra are lattice cells around the surface, which overhang it."""
        return self.tets is None and self.resolution.method == "lattice"

    @property
    def first_positions(self) -> np.ndarray:
        """Surface positions at the first frame, (n,3), world space, metres."""
        return self.surface.positions if self.initial_shape is None else self.initial_shape

    @property
    def has_contact(self) -> bool:
        """True with self-contact, or contact with the bodies in ``group_members``."""
        return bool(self.group_members) or self.contact.self_contact

    @property
    def mesh_colliders(self) -> tuple[Collider, ...]:
        """The colliders that are meshes."""
        return tuple(each for each in self.colliders if isinstance(each, Collider))

    def _validate(self, frames: int) -> None:
        n = len(self.surface.positions)
        self._validate_materials(n)
        if self.refinement is not None and not (self.refinement.shape == (n,) and np.isfinite(self.refinement).all()):
            raise SettingsError("The painted refinement has not one value per vertex.", "Paint its map again.")
        if self.initial_shape is not None and not (
            self.initial_shape.shape == (n, 3) and np.isfinite(self.initial_shape).all()
        ):
            raise SettingsError(
                f"The initial shape has shape {self.initial_shape.shape}, not {(n, 3)}, or is not finite.",
                "Press Set Rest Shape again, or give one position per vertex.",
            )
        if self.moduli is not None:
            expected = frames, len(moduli(self.materials))
            if self.moduli.shape != expected or not (np.isfinite(self.moduli) & (self.moduli > 0.0)).all():
                raise SettingsError(
                    "The stiffness of a material is not a positive number at every frame.",
                    "Check the animation of its stiffness.",
                )
        self._validate_vibrations(frames)
        self._validate_tet_materials()
        if not _are_vertices(self.dynamic_nodes, n):
            raise SettingsError(
                "The dynamic nodes are not valid indices of the body's vertices.", "Choose the nodes again."
            )
        matrices = self.object_to_world
        if not fits(matrices, frames) or matrices.shape[1:] != (4, 4):
            raise SettingsError(
                f"There must be one object matrix a frame, not {len(matrices)} for {frames}.",
                "Sample the object's matrix at every frame.",
            )
        if not np.isfinite(matrices).all():
            raise SettingsError("The object's matrix is not a number.", "Check the animation of the object.")
        for layer in self.layers:
            layer.check(len(self.materials), n)

    def _validate_vibrations(self, frames: int) -> None:
        factors, (softest, stiffest) = self.vibration_stiffness, VIBRATION_STIFFNESS
        if factors is None:
            return
        shape = factors.ndim == 2 and len(factors) == frames and 0 < factors.shape[1] <= MOST_CONTROLLED
        if not shape or not ((factors >= softest) & (factors <= stiffest)).all():
            raise SettingsError(
                f"The stiffness of a vibration is not a number from {softest:g} to {stiffest:g} at every frame.",
                "Check the animation of the stiffness of vibrations.",
            )

    def _validate_materials(self, n: int) -> None:
        if not self.materials:
            raise SettingsError("The body has no physical material.", "Add one under Physical Materials.")
        for noun, values in (("weight", self.material_weights), ("stiffness map", self.stiffness_maps)):
            if values.shape != (n, len(self.materials)):
                raise SettingsError(
                    f"The {noun}s of the materials have shape {values.shape}, not {(n, len(self.materials))}.",
                    "Give one column a material and one row a vertex.",
                )
            bad = np.argwhere(~np.isfinite(values))
            if len(bad):
                name = self.materials[bad[0][1]].name
                raise SettingsError(
                    f"The {noun} of the material “{name}” at vertex {bad[0][0]} is not a number.",
                    "Paint its map there again.",
                )

    def _validate_tet_materials(self) -> None:
        kinds, tets = self.tet_materials, self.tets
        if kinds is None:
            return
        if tets is None or kinds.shape != (len(tets),) or not _are_vertices(kinds, len(self.materials)):
            raise SettingsError(
                f"The materials of the tets have shape {kinds.shape}, or are not of {len(self.materials)} materials.",
                "Give each of the body's own tets the number of a material, from 0.",
            )

    def _validate_pins(self, frames: int) -> None:
        p = len(self.pinned_vertices)
        if not fits(self.pin_positions, frames) or self.pin_positions.shape[1:] != (p, 3):
            raise PinError(
                f"The pin positions have shape {self.pin_positions.shape}, not {(frames, p, 3)}.",
                "Give one position per frame and pin, or one per pin that holds still.",
            )
        if not np.isfinite(self.pin_positions).all():
            raise PinError(
                "A pin's position is not a number.", "Check the animation of the object that carries the pins."
            )
        if self.pin_held.shape != (frames, p):
            raise PinError(
                f"Whether pins are held has shape {self.pin_held.shape}, not {(frames, p)}.",
                "Give one value per frame and pin.",
            )

    def _validate_surroundings(self, frames: int, first: int) -> None:
        n = len(self.surface.positions)
        for spring in (*self.springs, *filter(None, [self.goal])):
            if not _are_vertices(spring.vertices, n):
                raise SpringError(
                    f"The spring “{spring.name}” pulls a vertex that does not exist.", "Choose its vertices again."
                )
            if len(spring.stiffness) != frames:
                raise SpringError(
                    f"The spring “{spring.name}” has {len(spring.stiffness)} frames, not {frames}.",
                    "Sample it at every frame.",
                )
        for collider in self.mesh_colliders:
            if len(collider.positions) > 1 and not fits(collider.positions, frames):
                raise ColliderError(
                    f"The collider “{collider.name}” has {len(collider.positions)} frames, not {frames}.",
                    "Sample it at every frame, or once if it stands still.",
                )
        others = [pair.other for pair in self.pairs]
        if len(set(others)) < len(others):
            raise SettingsError(f"Two pairs name “{max(others, key=others.count)}”.", "Remove one of them.")
        if self.name in others:
            raise SettingsError(
                "A pair is for two different bodies.",
                "For self-contact set the body's own Friction under Collide With.",
            )
        if any(not 0 <= k < len(self.absorbers) for each in self.force_fields for k in each.absorbers):
            raise FieldError("A force field names an absorber that does not exist.", "Name one by its number, from 0.")
        for each in (*self.force_fields, *self.absorbers):
            if wrong := lengths(each) - {1, frames}:
                raise FieldError(
                    f"“{each.name}” has {max(wrong)} frames, not {frames}.",
                    "Sample it at every frame, or once if it never changes.",
                )
        if self.accelerations is None:
            return
        if self.accelerations.shape not in ((frames, n, 3), (frames, 1, 3)):
            raise SettingsError(
                f"The accelerations have shape {self.accelerations.shape}, not {(frames, n, 3)} or {(frames, 1, 3)}.",
                "Give one vector per frame and vertex, or one per frame for the whole body.",
            )
        bad = np.argwhere(~np.isfinite(self.accelerations))
        if len(bad):
            raise SettingsError(
                f"The acceleration at vertex {bad[0][1]} is not a number at frame {first + bad[0][0]}.",
                "Check the source of the field.",
            )

    def check(self) -> None:
        """Run the quick checks that the body can be simulated; raise a SinewError if it cannot."""
        from ...mechanics.energies.registry import energy
        from ...methods.eigenfit.methods import check_method

        kind = solver_kind(self.solver.solver)
        if self.colliders and not kind.bears_obstacles:
            raise SettingsError(
                f"{kind.label} launches bodies that hit floors and colliders.",
                "Choose ConJac or Mixed FEM, or remove Ground and Colliders.",
            )
        if kind.takes_nodes:
            self._check_nodes()
        check_method(self.solver, self.vibration_stiffness is not None)
        for material in self.materials:
            energy(material.energy)
        self.surface.validate()
        if self.tets is not None:
            checked_tets(self.surface.positions, self.tets)
            if self.solver.match_resolution:
                raise SettingsError(
                    "A body with tetrahedra of its own cannot be matched to a finer lattice.",
                    "Turn Match Resolution off.",
                )
        for layer in self.layers:
            for surface in layer.surfaces:
                surface.validate()
        if len(np.unique(self.pinned_vertices[self.pin_held[0]])) == len(self.surface.positions):
            raise PinError("Every vertex is pinned: nothing is left to move.", "Remove vertices from the pin group.")

    def _check_nodes(self) -> None:
        if len(self.dynamic_nodes) > MOST_NODES:
            raise SettingsError(
                f"The body has {len(self.dynamic_nodes)} dynamic nodes, more than {MOST_NODES}.",
                "Propose Nodes chooses few: 4 to 32 carry its motion.",
            )
        both = np.intersect1d(self.dynamic_nodes, self.pinned_vertices[self.pin_held[0]])
        if len(both):
            raise PinError(
                f"Vertex {both[0]} is pinned and a dynamic node.", "Take it out of the nodes or of the pins."
            )


def _are_vertices(indices: np.ndarray, count: int) -> bool:
    return indices.ndim == 1 and (len(indices) == 0 or bool(indices.min() >= 0 and indices.max() < count))
