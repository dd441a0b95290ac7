"""Sampling of the force fields that act on a body, frame by frame in world space.

Fields with a formula in ``core/mechanics/forces/field_formulas.py`` are read as parameters. Textures and turbulence are
sampled on a grid around the body (``field_probe``). Velocities of fluids are read from the fluid's domain
(``fluid_in``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.foundation.errors import FieldError
from ...core.jobs.job.absorber import Absorber
from ...core.jobs.job.force_field import ForceField
from ...core.mechanics.forces.field_coordinates import FieldForm, FieldNumbers
from ...core.mechanics.forces.field_formulas import SAMPLED
from ..properties.field_weights import fields_for, is_enabled, reason_for, weight_of
from ..properties.mirror import clean
from .absorbers_in import AbsorberSampler, absorber_samplers
from .animation_in import EvaluatedFrame, Track
from .field_probe import FieldProbe, FieldState
from .fluid_in import FluidGrid, FluidSampler
from .mesh_in import (
    changed_mesh,
    length_factor,
    mesh_of,
    scaled,
    transform,
    triangles_of,
    unit_scale,
    vectors_of,
    vertex_positions,
)

ACCELERATING = ("FORCE", "WIND", "TEXTURE", "TURBULENCE")
"""Field types whose strength is an acceleration. The simulation scale multiplies lengths and must not change
accelerations. The strength is therefore divided by the simulation scale before the conversion from Blender units to m.
"""

AROUND = 1.0
"""Margin around the animated body of the box in which fields are sampled, relative to the size of the body."""


class FieldSamplers:
    """Samplers of the force fields that can act on a body, and of their absorbers.

    Absorbers are objects with a Collision modifier. Raises FieldError if the fluid of a Fluid Flow field is not cached.
    """

    def __init__(self, body: Any, context: Any, frames: tuple[int, int]) -> None:
        fields = fields_for(body, context.view_layer)
        may_act = (o for o in fields if weight_of(body, o.field.type) > 0.0 and not reason_for(o.field))
        self._fields = [ForceFieldSampler(o, body, context, frames) for o in may_act]
        absorbed = any(each.absorbed for each in self._fields)
        self._absorbers = absorber_samplers(body, context) if absorbed else []

    @property
    def tracks(self) -> list[Track]:
        """Return the tracks of all samplers."""
        return [each.track for each in (*self._fields, *self._absorbers)]

    def absorbers(self) -> tuple[Absorber, ...]:
        """Return the absorbers that act at any frame."""
        return tuple(each.absorber() for each in self._absorbing)

    def force_fields(self, rest: np.ndarray, matrices: np.ndarray, context: Any, first: int) -> tuple[ForceField, ...]:
        """Return the force fields that act on a body at any frame.

        ``rest`` (n,3), m: rest positions of the body's vertices.
        ``matrices`` (f,4,4): object matrices, one per frame from ``first`` on.
        """
        low, high = _box(rest, matrices)
        acting = [each for each in self._fields if each.acts()]
        return tuple(each.force_field(low, high, context, first, self._absorbing) for each in acting)

    @property
    def _absorbing(self) -> list[AbsorberSampler]:
        return [each for each in self._absorbers if each.acts()]


class SampledField(NamedTuple):
    """Force field at one frame.

    Attributes
    ----------
    numbers : parameters of the field
    centre : position of the field, (3,), m
    axis : unit vector along the field's axis, (3,)
    state : settings or fluid flow to sample on a grid; None for a field with a formula, or for an empty fluid domain
    vertices : vertices of the field's mesh, (k,3), m; None if the field's Shape setting does not use them
    normals : normals of the vertices, (k,3); None if the field's Shape setting does not use them
    """

    numbers: FieldNumbers
    centre: np.ndarray
    axis: np.ndarray
    state: FieldState | FluidGrid | None
    vertices: np.ndarray | None
    normals: np.ndarray | None


class ForceFieldSampler:
    """Sampler of the parameters, transform and mesh of one force field."""

    def __init__(self, field: Any, body: Any, context: Any, frames: tuple[int, int]) -> None:
        self._object, self._body = field, body
        settings = field.field
        attracts = settings.type == "FORCE" and settings.use_gravity_falloff
        words = settings.type, settings.shape, settings.falloff_type, settings.z_direction
        self._form = FieldForm(*words, attracts, unit_scale(context.scene))
        self._lengths = length_factor(context.scene) if settings.type in ACCELERATING else 1.0
        self._fluid = FluidSampler(field, frames) if settings.type == "FLUID_FLOW" else None
        self._triangles: np.ndarray | None = None
        self._count = 0
        self.track = Track(self._moment_at)

    def _moment_at(self, moment: EvaluatedFrame) -> SampledField:
        evaluated = self._object.evaluated_get(moment.context.evaluated_depsgraph_get())
        matrix = scaled(evaluated.matrix_world, moment.context.scene)
        length = np.linalg.norm(matrix[:3, 2])
        if not 0.0 < length < np.inf:
            raise self._refusal(f"has a scale of zero at frame {moment.frame}", "Give it a scale other than zero.")
        state = vertices = normals = None
        if self._fluid is not None:
            state = self._fluid.grid_at(moment)
        elif self._form.kind in SAMPLED:
            state = FieldState.of(self._object, evaluated)
        if self._form.shape in ("SURFACE", "POINTS"):
            vertices, normals = self._mesh_at(evaluated, matrix, moment.frame)
        numbers = self._numbers_at(moment)
        return SampledField(numbers, matrix[:3, 3], matrix[:3, 2] / length, state, vertices, normals)

    def _numbers_at(self, moment: EvaluatedFrame) -> FieldNumbers:
        field, body = self._object.field, self._body
        acts = field.apply_to_location and is_enabled(self._object, moment.context.view_layer)
        strength, damping = {
            "DRAG": (field.linear_drag, field.quadratic_drag),
            "HARMONIC": (field.strength, field.harmonic_damping),
            "CHARGE": (field.strength * body.sinew.field_weights.own_charge, 0.0),
        }.get(field.type, (field.strength, 0.0))
        return FieldNumbers(
            strength=clean(strength) / self._lengths,
            damping=clean(damping),
            flow=clean(field.flow),
            power=clean(field.falloff_power),
            distance_min=clean(field.distance_min) if field.use_min_distance else 0.0,
            distance_max=clean(field.distance_max) if field.use_max_distance else np.inf,
            radial_power=clean(field.radial_falloff),
            radial_min=clean(field.radial_min) if field.use_radial_min else 0.0,
            radial_max=clean(field.radial_max) if field.use_radial_max else np.inf,
            rest_length=clean(field.rest_length),
            noise=clean(field.noise) / self._lengths if field.type not in ("TEXTURE", "TURBULENCE") else 0.0,
            weight=clean(weight_of(body, field.type)) if acts else 0.0,
        )

    def _mesh_at(self, evaluated: Any, matrix: np.ndarray, frame: float) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the mesh's vertices, (k,3) m, and their unit normals, (k,3) or None."""
        with mesh_of(evaluated) as mesh:
            if mesh is None or len(mesh.vertices) == 0:
                problem = f"has the shape {self._shape_label} but no vertices"
                raise self._refusal(problem, "Use a mesh object with vertices as the field, or choose another Shape.")
            self._count = self._count or len(mesh.vertices)
            if len(mesh.vertices) != self._count:
                raise self._refusal(*changed_mesh(self._count, len(mesh.vertices), frame))
            vertices = transform(matrix, vertex_positions(mesh))
            if self._form.shape == "SURFACE":
                self._triangles = triangles_of(mesh, mirrored=False)
                return vertices, None
            normals = vectors_of(mesh.vertex_normals, "vector") @ matrix[:3, :3].T
            length = np.linalg.norm(normals, axis=1, keepdims=True)
            return vertices, normals / np.where(length > 0.0, length, 1.0)

    def _refusal(self, problem: str, remedy: str) -> FieldError:
        return FieldError(f"The force field “{self._object.name}” {problem}.", remedy)

    @property
    def _shape_label(self) -> str:
        return self._object.field.bl_rna.properties["shape"].enum_items[self._form.shape].name

    @property
    def absorbed(self) -> bool:
        """Return True if objects with a Collision modifier can absorb the field."""
        return self._object.field.use_absorption

    def acts(self) -> bool:
        """Return True if the field acts at any frame."""
        return any(moment.numbers.weight > 0.0 for moment in self.track.at_frames)

    def force_field(
        self, low: np.ndarray, high: np.ndarray, context: Any, first: int, absorbers: list[AbsorberSampler]
    ) -> ForceField:
        """Return the field with one sample per frame from ``first`` on.

        A field without a formula is also sampled on a grid in the region in which the body moves. For a Fluid Flow
        field, the grid covers only the part of the region inside the fluid domain.

        ``low``, ``high`` (3,), m: corners of the region in which the body moves.
        ``absorbers``: samplers of all objects that absorb fields.
        """
        numbers, centres, axes, states, vertices, normals = zip(*self.track.at_frames, strict=True)
        low, high, samples = self._asked(states, low, high, context, first)
        return ForceField(
            self._object.name,
            self._form,
            np.array(numbers),
            np.array(centres),
            np.array(axes),
            self._object.field.seed,
            vertices=np.array(vertices) if self._count else None,
            normals=np.array(normals) if self._form.shape == "POINTS" else None,
            triangles=self._triangles,
            low=low,
            high=high,
            samples=samples,
            absorbers=tuple(k for k, each in enumerate(absorbers) if self.absorbed and each.object != self._object),
        )

    def _asked(
        self, states: Sequence[Any], low: np.ndarray, high: np.ndarray, context: Any, first: int
    ) -> tuple[np.ndarray | None, np.ndarray | None, np.ndarray | None]:
        """Return the corners and the samples of the grid, or three times None for a field with a formula."""
        if self._fluid is not None:
            return self._fluid.samples(states, low, high, context.scene)
        if self._form.kind not in SAMPLED:
            return None, None, None
        # Textures and meshes can change at constant field settings; turbulence is sampled again only if they change.
        stands_still = self._form.kind == "TURBULENCE" and not self._count
        samples: list[np.ndarray] = []
        with FieldProbe(self._object, low, high, context.scene) as probe:
            for k, state in enumerate(states):
                same = stands_still and k > 0 and state == states[k - 1]
                samples.append(samples[-1] if same else probe.at(first + k, state) / self._lengths)
        return low, high, np.array(samples)


def _box(rest: np.ndarray, matrices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower and upper corner of a box with a margin around the animated body, (3,) m."""
    sides = rest.min(axis=0), rest.max(axis=0)
    corners = np.array([[sides[i][0], sides[j][1], sides[k][2]] for i, j, k in np.ndindex(2, 2, 2)])
    moves = matrices @ np.linalg.inv(matrices[0])
    taken = np.concatenate([transform(move, corners) for move in moves])
    room = AROUND * float((sides[1] - sides[0]).max())
    return taken.min(axis=0) - room, taken.max(axis=0) + room
