"""Sampling of a body's animated inputs: transform, pins, goal and settings."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.foundation.errors import ChamberError, PinError, SettingsError
from ...core.geometry.mesh.surface_mesh import SurfaceMesh
from ...core.jobs.job.chamber import Chamber
from ...core.jobs.job.environment import Spring
from ..objects.modifier_stack import StackPosition
from ..properties.choices import live_solver_name, solver_kind
from ..properties.mirror import clean
from .animation_in import EvaluatedFrame, MovedObjects, Track, matrix_at
from .mesh_in import vectors_of
from .muscles_in import activation_at
from .picks import FULL
from .settings_in import gravity_at, moduli_at, vibrations_at
from .weights_in import check_attribute, group_weights, has_weights


class BodySampler:
    """Sampler of a body's animated inputs.

    The inputs are object matrix, acceleration attribute, gravity, stiffness of materials, stiffness of vibrations, pins
    and goal. The goal pulls vertices softly to animated positions. The sampler also reads the dynamic nodes: the
    vertices with a full weight in the node group. The ConJac solvers integrate the motion of dynamic nodes in time.

    A sample of the pins has positions (p,3), m, of the vertices pinned at the first frame, and flags (p,). A flag is
    True while the vertex is pinned. A sample of the goal has animated positions and a strength.
    """

    def __init__(self, obj: Any, position: StackPosition, mesh: Any) -> None:
        self._object, self._position = obj, position
        weights, nodes = group_weights(obj, mesh, [obj.sinew.pin_group, obj.sinew.node_group]).T
        self._nodes = np.flatnonzero(nodes >= FULL).astype(np.int32)
        self._pinned = np.flatnonzero(weights >= _threshold(obj)).astype(np.int32)
        self._drawn = np.flatnonzero(weights > 0.0) if obj.sinew.use_goal else np.empty(0, dtype=np.int32)
        self._all_weights, self._weights = weights, weights[self._pinned]
        self.matrices = Track(matrix_at, self._carries_pins)
        self._positions, self._held = Track(self._positions_at, self._pins_move), Track(self._held_at)
        self._targets, self._strengths = Track(self._targets_at, self._targets_move), Track(_goal_strength_at)
        self._accelerations, self._moduli = Track(acceleration_at), Track(moduli_at)
        self._vibrations, self._gravity = Track(vibrations_at), Track(gravity_at)
        self.activation, self._pressure = Track(activation_at), Track(_pressure_at)
        own = self.matrices, self._positions, self._held, self._targets, self._strengths
        self.tracks = *own, self._accelerations, self._moduli, self._vibrations, self._gravity, self.activation
        self.tracks = *self.tracks, self._pressure
        self._around = group_weights(obj, mesh, [obj.sinew.chamber.vertex_group])[:, 0] >= FULL
        names = obj.sinew.pin_group, obj.sinew.node_group, obj.sinew.chamber.vertex_group
        self._missing = {name for name in names if name and not has_weights(obj, mesh, name)}

    def _positions_at(self, moment: EvaluatedFrame) -> np.ndarray:
        return moment.world(self._pinned)

    def _held_at(self, moment: EvaluatedFrame) -> np.ndarray:
        return self._weights >= _threshold(moment.obj)

    def _targets_at(self, moment: EvaluatedFrame) -> np.ndarray:
        return moment.world(self._drawn)

    def _pins_move(self, moved: MovedObjects) -> bool:
        return len(self._pinned) > 0 and moved.carries(self._object, self._position)

    def _targets_move(self, moved: MovedObjects) -> bool:
        return len(self._drawn) > 0 and moved.carries(self._object, self._position)

    def _carries_pins(self, moved: MovedObjects) -> bool:
        return len(self._pinned) > 0 and self._object.session_uid in moved.transforms

    def check_groups(self, surface: SurfaceMesh) -> None:
        """Check the vertex groups of dynamic nodes and pins.

        Dynamic nodes are the vertices whose motion the ConJac solvers integrate in time.

        Raises SettingsError if the group of dynamic nodes is missing and the solver of the bake or of live mode uses
        dynamic nodes. Raises PinError if the pin group is missing. Raises PinError if the vertices of all faces are
        pinned.
        """
        settings = self._object.sinew
        takes_nodes = any(solver_kind(name).takes_nodes for name in (settings.solver, live_solver_name(settings)))
        if takes_nodes and settings.node_group in self._missing:
            gone = f"The vertex group “{settings.node_group}” of dynamic nodes does not exist any more."
            raise SettingsError(gone, "Choose a vertex group under Solver, or none.")
        name = settings.pin_group
        if name in self._missing:
            gone = f"The pin group “{name}” does not exist any more."
            raise PinError(gone, "Choose a vertex group under Pins, or none.")
        if len(self._pinned) and np.isin(surface.triangles, self._pinned).all():
            remedy = f"Lower the weights of some vertices in “{name}”, or raise Pin Threshold."
            raise PinError("The vertices of all faces are pinned, so nothing can move.", remedy)

    def parts(self) -> dict[str, Any]:
        """Return the samples as fields of the job's ``Body``, by name.

        ``moduli`` is None for constant Young's moduli. ``vibration_stiffness`` is None if the body does not control
        vibrations.
        """
        moduli = self._moduli.samples()
        return {
            "object_to_world": self.matrices.samples(),
            "dynamic_nodes": self._nodes,
            "pinned_vertices": self._pinned,
            "pin_positions": self._positions.samples(),
            "pin_held": self._held.samples(),
            "goal": self._goal(),
            "chamber": self._chamber(),
            "accelerations": self._all_accelerations(),
            "moduli": moduli if (moduli != moduli[0]).any() else None,
            "vibration_stiffness": self._vibrations.samples() if self._object.sinew.control_vibrations else None,
        }

    def _all_accelerations(self) -> np.ndarray | None:
        """Return the accelerations in addition to the gravity of the first frame, (frames, n or 1, 3) m/s²."""
        gravity = self._gravity.samples()[:, None]
        change = gravity - gravity[0] if (gravity != gravity[0]).any() else None
        own = self._accelerations.samples() if self._object.sinew.acceleration_attribute else None
        return change if own is None else own if change is None else own + change

    def _chamber(self) -> Chamber | None:
        """Return the pressure in the body. Raises ChamberError if its vertex group is missing or empty."""
        settings = self._object.sinew.chamber
        if not settings.enabled:
            return None
        around = np.flatnonzero(self._around)
        if settings.vertex_group and not len(around):
            gone = "is gone" if settings.vertex_group in self._missing else "has no vertex of full weight"
            raise ChamberError(
                f"The vertex group “{settings.vertex_group}” of the chamber {gone}.",
                "Assign all vertices around the chamber with weight 1, or clear Chamber under Pressure.",
            )
        return Chamber(settings.is_gas, around, self._pressure.samples(), settings.shared)

    def _goal(self) -> Spring | None:
        """Return the goal, a soft pull to animated positions, as a spring.

        If an animated pin threshold releases all pins at some frames, the strength of the goal is 0 at these frames.
        Vertices that are pinned at all other frames are left out.
        """
        held = self._held.samples()
        draws = held.any(axis=1) | ~held.any()
        never = self._pinned[held[draws].all(axis=0)]
        drawn = ~np.isin(self._drawn, never)
        vertices, targets = self._drawn[drawn], self._targets.samples()[:, drawn]
        if len(vertices) == 0:
            return None
        name, strengths = self._object.sinew.pin_group, np.where(draws, self._strengths.samples(), 0.0)
        return Spring(name, vertices, self._all_weights[vertices], targets, strengths)


def _pressure_at(moment: EvaluatedFrame) -> float:
    return clean(moment.obj.sinew.chamber.pressure)


def _goal_strength_at(moment: EvaluatedFrame) -> float:
    return clean(moment.obj.sinew.goal_strength)


def acceleration_at(moment: EvaluatedFrame) -> np.ndarray | None:
    """Return the vertex accelerations in world space from the body's attribute, (n,3) m/s².

    Returns None if the body has no acceleration attribute. Raises SettingsError if the attribute is missing or is not a
    vector per point.
    """
    name, owner = moment.obj.sinew.acceleration_attribute, moment.obj.name
    if not name:
        return None
    attribute = moment.mesh.attributes.get(name)
    if attribute is None:
        raise SettingsError(
            f"The simulated mesh of “{owner}” has no attribute “{name}” at frame {moment.frame}.",
            "Set Simulate, under Resolution, to the modifier that creates the attribute, or clear Acceleration under "
            "Fields.",
        )
    check_attribute(attribute, moment.obj, {"FLOAT_VECTOR"}, "vector")
    return vectors_of(attribute.data, "vector")


def _threshold(obj: Any) -> float:
    """Return the pin threshold at the current frame.

    The threshold is not rounded: weights are 32-bit floats too, so a painted 0.7 reaches a threshold of 0.7.
    """
    return obj.sinew.pin_threshold
