"""Body of a job: its surface, materials, pins, and contact partners.

Each dataclass field has metadata (``core/foundation/schema/field_metadata.py``), for example its label for artists. The
metadata serve to save jobs, to change the frame range, and to list the edits since a bake."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...foundation.errors import ColliderError, MeshError, PinError, SettingsError, SpringError
from ...foundation.schema.declared_types import array_of, checked, coerce
from ...foundation.schema.field_metadata import field_spec
from ...foundation.schema.settings import ContactSettings, MaterialSettings, ResolutionSettings, SolverSettings, moduli
from ...foundation.schema.solver_kinds import solver_kind
from ...foundation.schema.tracks import fits
from ...geometry.mesh.surface_mesh import SurfaceMesh
from ...geometry.mesh.tet_mesh import checked_tets
from ...mechanics.constraints.kinematic_region import KinematicRegion
from ...mechanics.materials.layer import Layer
from .absorber import Absorber
from .chamber import Chamber
from .dynamic_nodes import check_nodes
from .environment import Collider, Ground, Spring
from .force_field import ForceField, check_fields
from .joint import Joint, check_joints
from .muscle import Muscle, check_muscles
from .pair import GroupMember, PairSettings, check_partners
from .seams import Seams
from .static_bodies import check_static
from .tie import Tie, check_ties

VIBRATION_STIFFNESS = 0.1, 10.0
"""Lowest and highest factor on the stiffness of a vibration."""
MOST_CONTROLLED = 40
"""Largest number of controlled vibrations, equal to the largest number of matched ones."""


@dataclass(frozen=True, kw_only=True)
class Body:
    """Elastic body over the frames of its job. Bodies may share objects for colliders and force fields.

    Attributes
    ----------
    name : str
        Name in messages, and of the folder of the frames; unique within a job.
    surface : SurfaceMesh
        The rest shape in world space, metres (n vertices).
    tets : (m, 4) int32 or None
        Positively oriented tetrahedra that use all vertices of ``surface``, with ``seams`` at least those of the body
        before the split; None to make tetrahedra by ``resolution``. :meth:`of_tets` makes a body of given tetrahedra.
    materials : tuple of MaterialSettings
        At least one material. Instead of a tuple, a single MaterialSettings is accepted.
    material_weights : (n, len(materials)) float64
        Painted weight of each material at each vertex; zero by default. If the weights of a vertex add up to less than
        1, the first material gets the rest.
    tet_materials : (m,) int32 or None
        Index of the material per tet, from 0, instead of ``material_weights``.
    layers : tuple of Layer
        Materials on top of the painted ones, later ones over earlier ones; in the space of ``surface``.
    stiffness_maps : (n, len(materials)) float64
        Relative stiffness of each material with a ``painted_modulus``, 0 to 1; zero by default.
    pinned_vertices : (p,) int32
        Pinned surface vertices, or a mask (n,) bool of them; none by default.
    pin_positions : (samples, p, 3) float64
        Target position of each pin, world space, m. The samples are evenly spaced in time, from the job's first frame
        to its last (``core/foundation/schema/tracks.py``). If the pins do not move, the shape may be (p, 3). By default
        the pins stay at their rest positions.
    pin_held : (frames, p) bool
        True if a pin is held at a frame. By default all pins are held. A released pin stays released.
    object_to_world : (samples, 4, 4) float64
        Matrices from the object's local coordinates to world space, m, at the samples of a track. Identity by default.
    refinement : (n,) float64 or None
        Refinement of the tetrahedra at each surface vertex, 0 to 1 (``ResolutionSettings.refine_factor``).
    initial_shape : (n, 3) float64 or None
        Surface positions at the first frame, world space, metres; None for the rest shape.
    regions : tuple of KinematicRegion
        Closed surfaces that prescribe the motion of everything within them; the last one holds where they overlap.
    goal : Spring or None
        Springs from surface vertices to their animated positions. Each spring's stiffness is proportional to weight and
        area. If ``stiffness`` and all weights are 1, the total stiffness of the springs, N/m, is the lowest Young's
        modulus times the body's size (``goal_stiffness`` in ``core/mechanics/forces/springs.py``).
    springs : tuple of Spring
        Springs from surface vertices to moving targets.
    colliders : tuple of Ground and Collider
        Colliders of the body; contacts are summed in this order.
    contact : ContactSettings
        Contact with the job's other bodies, and self-contact.
    contact_with : tuple of str or None
        Names of the bodies that this body may collide with; None for all bodies.
    pairs : tuple of PairSettings
        Contact settings for pairs of this body and another body or collider; at most one entry per pair.
    chamber : Chamber or None
        Pressure in the body's cavities, or inside it.
    ties : tuple of Tie
        Ties to other bodies and to colliders.
    seams : Seams or None
        Pieces into which ``surface`` is split beforehand, held together until they are cut or tear.
    joints : tuple of Joint
        Joints with other bodies, with colliders and with the world.
    group_members : tuple of GroupMember
        The other bodies that are baked together with this body, set by ``groups.py``.
    group_index : int
        Index of the body among all bodies of its group, set with ``group_members``.
    accelerations : (frames, n or 1, 3) float64 or None
        Acceleration in addition to gravity, including changes of gravity over the frames; world space, m/s².
    muscles : tuple of Muscle
        Materials with fibres, at most one entry per material.
    moduli : (frames, K) float64 or None
        Young's moduli of the materials (``settings.moduli``) at each frame, Pa; None if they are constant. Their
        logarithms are interpolated linearly between frames. ``materials`` hold the moduli of the first frame.
    vibration_stiffness : (frames, k) float64 or None
        Factor on the stiffness of the body's k lowest vibrations at each frame, within ``VIBRATION_STIFFNESS``.
        Logarithms are interpolated linearly between frames. None if no stiffness is changed.
    force_fields : tuple of ForceField
    absorbers : tuple of Absorber
        Surfaces that weaken force fields behind them. A force field lists the indices of its absorbers.
    solver : SolverSettings
    dynamic_nodes : (k,) int32
        Indices of the surface vertices that the ConJac solvers integrate in time, ascending, each once. The rest of
        the body follows quasistatically. Other solvers ignore dynamic nodes.
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
    muscles: tuple[Muscle, ...] = field_spec("muscle", word="materials", default=(), each_of="materials")
    moduli: np.ndarray | None = field_spec(
        "keyed stiffness", word="materials", default=None, dtype=np.float64, over_frames=True
    )
    pinned_vertices: np.ndarray = field_spec("vertices", word="pins", default=(), dtype=np.int32, counted=True)
    pin_held: np.ndarray | None = field_spec(
        "their release", word="pins", default=None, dtype=bool, over_frames=True, filled=True
    )
    regions: tuple[KinematicRegion, ...] = field_spec("region", word="pins", default=())
    goal: Spring | None = field_spec("goal", word="pins", default=None)
    springs: tuple[Spring, ...] = field_spec("spring", word="springs", default=())
    colliders: tuple[Ground | Collider, ...] = field_spec("collider", word="collisions", default=())
    contact: ContactSettings = field_spec("contact", word="collisions", default_factory=ContactSettings)
    contact_with: tuple[str, ...] | None = field_spec("the bodies it collides with", word="collisions", default=None)
    pairs: tuple[PairSettings, ...] = field_spec("pair", word="collisions", default=())
    chamber: Chamber | None = field_spec("chamber", word="pressure", default=None)
    ties: tuple[Tie, ...] = field_spec("tie", word="ties", default=())
    joints: tuple[Joint, ...] = field_spec("joint", word="ties", default=())
    seams: Seams | None = field_spec("", word="mesh", default=None)
    group_members: tuple[GroupMember, ...] = field_spec("body", word="collisions", default=())
    group_index: int = field_spec("the body's index in its contact group", word="collisions", default=0)
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
            raise MeshError(f"The surface is a {kind}.", "Give a Surface, made by Surface, of_faces or read_surface.")
        rest = self.surface.positions
        pinned = array_of(self.pinned_vertices, PinError, "Body: pinned vertices")
        if pinned.dtype == bool and pinned.shape == (len(rest),):
            object.__setattr__(self, "pinned_vertices", np.flatnonzero(pinned))
        elif pinned.size and pinned.dtype.kind not in "iu":
            raise PinError(
                f"The pinned vertices are {pinned.dtype} of shape {pinned.shape}.",
                f"Give indices of vertices, from 0, or a mask of all {len(rest)} vertices.",
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
        """Return a body with the given tetrahedra (m,4) and their vertices (n,3), m.

        ``fields`` are other fields of the body. Frames, pins and weights refer to all n vertices. Raises MeshError for
        invalid or inverted tetrahedra."""
        from ...geometry.mesh.topology import boundary_triangles

        mesh = checked_tets(vertices, tets)
        surface = SurfaceMesh(mesh.rest_positions, boundary_triangles(mesh.tets))
        return cls(surface=surface, tets=mesh.tets, **fields)

    def with_tracks(self, frames: int, first: int) -> Body:
        """Return a validated copy of the body for a job of ``frames`` frames from frame ``first``.

        Missing pin states and object matrices get constant values over the frames. Pin positions (p,3) are repeated."""
        if not _are_vertices(self.pinned_vertices, len(self.surface.positions)):
            raise PinError(
                "The pinned vertices are not valid indices of the body's vertices.", "Choose the pins again."
            )
        body, held = copy(self), self.pin_held
        held = np.ones((frames, len(self.pinned_vertices)), dtype=bool) if held is None else np.atleast_1d(held)
        filled = {"pin_held": np.logical_and.accumulate(held, axis=0)}
        filled["regions"] = tuple(region.over(frames) for region in self.regions)
        if self.object_to_world is None:
            filled["object_to_world"] = np.tile(np.eye(4), (frames, 1, 1))
        if self.pin_positions.ndim == 2 and len(held) == frames:  # else a damaged file could demand any memory
            filled["pin_positions"] = np.tile(self.pin_positions, (frames, 1, 1))
        for name, array in filled.items():
            object.__setattr__(body, name, array)
        body._validate(frames)
        body._validate_pins(frames)
        body._validate_surroundings(frames, first)
        return body

    @property
    def is_lattice(self) -> bool:
        """True if the tetrahedra come from a lattice, whose border cells extend beyond the surface."""
        return self.tets is None and self.resolution.method == "lattice"

    @property
    def is_rigid(self) -> bool:
        """True if the body is one stiff tetrahedron with the mass and the moments of inertia of its surface."""
        return self.tets is None and self.resolution.method == "rigid"

    @property
    def first_positions(self) -> np.ndarray:
        """Surface positions at the first frame, (n,3) m, in world space."""
        return self.surface.positions if self.initial_shape is None else self.initial_shape

    @property
    def is_plastic(self) -> bool:
        """True if a material is plastic."""
        return any(material.yield_strain for material in self.materials)

    @property
    def has_contact(self) -> bool:
        """True if the body has self-contact, or contact with bodies in ``group_members``."""
        return bool(self.group_members) or self.contact.self_contact

    @property
    def attached(self) -> tuple[str, ...]:
        """Names of the bodies and colliders that the body is tied to or has a joint with."""
        return tuple(each.other for each in (*self.ties, *self.joints) if each.other)

    @property
    def mesh_colliders(self) -> tuple[Collider, ...]:
        """Colliders of the body without the ground."""
        return tuple(each for each in self.colliders if isinstance(each, Collider))

    def _validate(self, frames: int) -> None:
        n = len(self.surface.positions)
        self._validate_materials(n)
        if self.refinement is not None and not (self.refinement.shape == (n,) and np.isfinite(self.refinement).all()):
            raise SettingsError("The painted refinement does not have one finite number per vertex.", "Paint it again.")
        if self.initial_shape is not None and not (
            self.initial_shape.shape == (n, 3) and np.isfinite(self.initial_shape).all()
        ):
            raise SettingsError(
                f"The initial shape is an array {self.initial_shape.shape}, not {(n, 3)}, or is not finite.",
                "Give one position per vertex, or press Set Rest Shape in Blender again.",
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
                f"The body has {len(matrices)} object matrices for {frames} frames.",
                "Sample the object's matrix at every frame.",
            )
        if not np.isfinite(matrices).all():
            raise SettingsError("The object's matrix is not a number.", "Check the animation of the object.")
        for layer in self.layers:
            layer.check(len(self.materials), n)
        check_muscles(self.muscles, self.materials, n, frames)

    def _validate_vibrations(self, frames: int) -> None:
        factors, (softest, stiffest) = self.vibration_stiffness, VIBRATION_STIFFNESS
        if factors is None:
            return
        shape = factors.ndim == 2 and len(factors) == frames and 0 < factors.shape[1] <= MOST_CONTROLLED
        if not shape or not ((factors >= softest) & (factors <= stiffest)).all():
            raise SettingsError(
                f"The stiffness factor of a vibration is not a number from {softest:g} to {stiffest:g} at every frame.",
                "Check the animation of the factors.",
            )

    def _validate_materials(self, n: int) -> None:
        if not self.materials:
            raise SettingsError("The body has no physical material.", "Add a material (Physical Materials in Blender).")
        for noun, values in (("weight", self.material_weights), ("stiffness map", self.stiffness_maps)):
            if values.shape != (n, len(self.materials)):
                raise SettingsError(
                    f"The array of {noun}s of the materials has shape {values.shape}, not {(n, len(self.materials))}.",
                    "Give one column per material and one row per vertex.",
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
                f"The array tet_materials of shape {kinds.shape} is not a list of one material index per tetrahedron.",
                f"Give the index of a material for each row of tets, at least 0 and less than {len(self.materials)}.",
            )

    def _validate_pins(self, frames: int) -> None:
        p = len(self.pinned_vertices)
        if not fits(self.pin_positions, frames) or self.pin_positions.shape[1:] != (p, 3):
            raise PinError(
                f"The pin positions have shape {self.pin_positions.shape}, not {(frames, p, 3)}.",
                "Give one position per frame and pin, or one position per pin if the pins do not move.",
            )
        if not np.isfinite(self.pin_positions).all():
            raise PinError(
                "A pin's position is not a number.", "Check the animation of the object that carries the pins."
            )
        if self.pin_held.shape != (frames, p):
            raise PinError(
                f"The array pin_held has shape {self.pin_held.shape}, not {(frames, p)}.",
                "Give one True or False per frame and pin.",
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
                    f"The spring “{spring.name}” has its stiffness at {len(spring.stiffness)} frames, not {frames}.",
                    "Give its stiffness at every frame.",
                )
        for collider in self.mesh_colliders:
            if len(collider.positions) > 1 and not fits(collider.positions, frames):
                raise ColliderError(
                    f"The collider “{collider.name}” has {len(collider.positions)} samples for {frames} frames.",
                    "Give its positions at every frame, or once if it does not move.",
                )
        if self.chamber is not None:
            self.chamber.check(n, frames)
        if self.seams is not None:
            self.seams.check(self.surface, self.is_rigid)
        check_ties(self.name, self.ties, n, frames)
        check_joints(self.name, self.joints, frames)
        check_partners(self.name, self.pairs)
        check_fields(self.force_fields, self.absorbers, frames)
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
                "Check the animation of the acceleration field.",
            )

    def check(self) -> None:
        """Check quickly that the body can be simulated. Raises a SinewError if it cannot."""
        from ...mechanics.energies.registry import check_energy
        from ...mechanics.fibres.registry import fibre_law
        from ...methods.eigenfit.methods import check_method

        kind = solver_kind(self.solver.solver)
        if self.colliders and not kind.bears_obstacles:
            raise SettingsError(
                f"{kind.label} launches bodies that hit floors and colliders.",
                "Choose ConJac or Mixed FEM, or remove Ground and Colliders.",
            )
        if kind.takes_nodes:
            check_nodes(self.dynamic_nodes, self.pinned_vertices[self.pin_held[0]])
        check_method(self.solver, self.vibration_stiffness is not None, self.is_plastic)
        check_static(self.solver, self.pin_held, self.regions, bool(self.goal or self.ties or self.joints))
        for material in self.materials:
            check_energy(material)
        for muscle in self.muscles:
            fibre_law(muscle.settings.law)
        self.surface.validate()
        if self.chamber is not None:
            self.chamber.surfaces(self.surface)
        if self.seams is not None:
            self.seams.opposite_faces(self.surface)
        if self.tets is not None:
            checked_tets(self.surface.positions, self.tets, self.seams is not None)
            if self.solver.match_resolution:
                raise SettingsError(
                    "A body whose tetrahedra are given cannot be matched to a finer lattice.",
                    "Turn Match Resolution off.",
                )
        inner = [surface for layer in self.layers for surface in layer.surfaces]
        for surface in (*inner, *(region.surface for region in self.regions)):
            surface.validate()
        if len(np.unique(self.pinned_vertices[self.pin_held[0]])) == len(self.surface.positions):
            raise PinError("Every vertex is pinned: nothing is left to move.", "Remove vertices from the pin group.")


def _are_vertices(indices: np.ndarray, count: int) -> bool:
    return indices.ndim == 1 and (len(indices) == 0 or bool(indices.min() >= 0 and indices.max() < count))
