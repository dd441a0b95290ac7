"""Sampling of Blender's force fields on a grid, by the motion of particles.

Blender provides no other access to the fields. Particles of 1 kg start at rest at the grid points, in a separate scene
that contains only the field. The acceleration of a particle is its velocity after one step of 0.01 s, divided by the
step.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, NamedTuple

import bpy
import numpy as np

from ...core.foundation.errors import FieldError
from ..blend_data.temporary_scene import remove_scene
from .mesh_in import unit_scale, vectors_of

KNOTS = 24
"""Number of grid points along the longest side of the sampled box."""

SHARE = 1000
"""Particles per emitter. With several thousand, Blender's rounding emits two at some vertices and none at others."""

STEP = 0.01
"""Time step of the particles, s."""


def knots(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the points of an evenly spaced grid in a box, (a,b,c,3).

    ``low``, ``high`` (3,): lower and upper corner of the box.
    """
    spacing = (high - low).max() / (KNOTS - 1)
    counts = np.maximum(np.ceil((high - low) / spacing).astype(int) + 1, 2)
    return np.stack(np.meshgrid(*map(np.linspace, low, high, counts), indexing="ij"), axis=-1)


class FieldState(NamedTuple):
    """Force field at one frame.

    ``settings``: settings of the field, by name.
    ``matrix``: the field's matrix to world space in Blender units.
    """

    settings: dict[str, Any]
    matrix: Any

    @classmethod
    def of(cls, obj: Any, evaluated: Any) -> FieldState:
        """Return the state of an object's force field at the current frame.

        ``evaluated``: evaluated copy of ``obj``.
        """
        settings = obj.field
        names = (p.identifier for p in settings.bl_rna.properties if not p.is_readonly and p.type != "POINTER")
        return cls({name: getattr(settings, name) for name in names}, evaluated.matrix_world.copy())


class FieldProbe:
    """Sampler of one force field on a grid, as a context manager.

    The sampler's temporary scene is removed on exit. The sampler uses a copy of the field, and sets the copy's state at
    each frame. With the field itself, Blender might evaluate particles before the field's animation.

    Parameters
    ----------
    field : force field object
    low, high : (3,) m, lower and upper corner of the sampled box
    scene : scene that defines the units
    """

    def __init__(self, field: Any, low: np.ndarray, high: np.ndarray, scene: Any) -> None:
        self._field, unit = field, unit_scale(scene)
        points = knots(low, high) / unit
        self._shape = points.shape[:3]
        self._points = points.reshape(-1, 3).astype(np.float32)
        self._meshes: list[Any] = []
        self._emitters: list[Any] = []

    def __enter__(self) -> FieldProbe:
        self._scene = bpy.data.scenes.new("Sinew Probe")
        self._settings = _falling_freely()
        self._copy = self._field.copy()
        self._copy.animation_data_clear()
        self._copy.constraints.clear()
        self._copy.parent = None
        self._scene.collection.objects.link(self._copy)
        # All emitters have the same number of vertices: the last is padded with the first grid points.
        padded = np.resize(self._points, (-(-len(self._points) // SHARE) * SHARE, 3))
        for share in padded.reshape(-1, SHARE, 3):
            mesh = bpy.data.meshes.new("Sinew Probe")
            self._meshes.append(mesh)
            mesh.vertices.add(SHARE)
            mesh.vertices.foreach_set("co", share.ravel())
            emitter = bpy.data.objects.new("Sinew Probe", mesh)
            self._emitters.append(emitter)
            self._scene.collection.objects.link(emitter)
            system = emitter.modifiers.new("Sinew Probe", "PARTICLE_SYSTEM").particle_system
            own, system.settings = system.settings, self._settings
            bpy.data.particles.remove(own)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for obj in (*self._emitters, self._copy):
            bpy.data.objects.remove(obj)
        for mesh in self._meshes:
            bpy.data.meshes.remove(mesh)
        bpy.data.particles.remove(self._settings)
        remove_scene(self._scene)

    def at(self, frame: int, state: FieldState) -> np.ndarray:
        """Return the accelerations at the grid points at a frame, (a,b,c,3) in Blender units/s².

        ``state`` is the field's state at the frame. Raises FieldError if the particles left the grid points.
        """
        for name, value in state.settings.items():
            setattr(self._copy.field, name, value)
        self._copy.matrix_world = state.matrix
        self._copy.update_tag()
        # Emit one frame earlier: particles are accelerated by the field at the frame at which their step ends.
        self._settings.frame_start = self._settings.frame_end = frame - 1
        self._scene.frame_set(frame - 1)
        if not np.allclose(self._read("location"), self._points, rtol=0.0, atol=1e-4 * np.ptp(self._points)):
            raise FieldError(
                f"Blender's particles left the points at which the force field “{self._field.name}” is sampled.",
                "Set the field's weight under Field Weights to 0, and report this as a bug.",
            )
        self._scene.frame_set(frame)
        return self._read("velocity").reshape(*self._shape, 3) / STEP

    def _read(self, name: str) -> np.ndarray:
        """Return the vector property ``name`` of the particles, (p,3), in the order of the grid points."""
        depsgraph, read = self._scene.view_layers[0].depsgraph, []
        for emitter in self._emitters:
            particles = emitter.evaluated_get(depsgraph).particle_systems[0].particles
            read.append(vectors_of(particles, name))
        return np.concatenate(read)[: len(self._points)]


def _falling_freely() -> Any:
    """Return new settings of particles that only force fields move."""
    settings = bpy.data.particles.new("Sinew Probe")
    settings.count, settings.emit_from, settings.use_emit_random = SHARE, "VERT", False
    settings.physics_type, settings.integrator, settings.timestep = "NEWTON", "EULER", STEP
    settings.normal_factor, settings.mass, settings.lifetime = 0.0, 1.0, 1e5
    settings.effector_weights.gravity = 0.0
    return settings
