"""Displacements of a shape key that moves the posed mesh to a given shape.

Modifiers such as Armature move each vertex by an affine map of its own position: ``p = A q + b``. The map is measured
by moving all vertices along x, y and z. The key displaces the vertices by ``A^-1 (target - p)``, so that the modifiers
move them to the target.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.foundation.errors import MeshError
from ..objects.modifier_stack import cut_after, shown, stack_position
from ..scene_import.mesh_in import mesh_at_position, object_to_world, transform, unkeyed_positions, vertex_positions

PROBE = 1e-2
"""Displacement that measures the map of the modifiers, in sizes of the mesh."""

FLAT = 1e-3
"""Smallest relative singular value of a vertex's map that is inverted."""


def displacements_to(obj: Any, target: np.ndarray, context: Any) -> np.ndarray:
    """Return the displacements (n,3) that move the mesh of ``obj``, as posed at the current frame, to a shape.

    The displacements are in object coordinates, before the modifiers. ``target`` (n,3): positions at the end of the
    simulated modifiers, world space, m.

    Raises MeshError if a modifier before the simulation changes the number of vertices.
    """
    position = stack_position(obj)
    # The bake hides the original, and Blender does not evaluate hidden objects.
    with shown(obj), cut_after(obj, position):
        posed, matrix = _posed(obj, position, context)
        if not len(posed) == len(obj.data.vertices) == len(target):
            raise MeshError(
                "Modifiers before the simulated shape change the number of vertices.",
                "Put them after the modifier under Resolution > Simulate.",
            )
        moved = transform(np.linalg.inv(matrix), target) - posed
        if position.on_itself:
            return moved
        linear = _linear_maps(obj, position, context, posed)
    return np.einsum("nij,nj->ni", np.linalg.pinv(linear, rcond=FLAT), moved)


def set_key(key: Any, positions: np.ndarray) -> None:
    """Set the vertex positions (n,3) of a shape key, in object coordinates."""
    key.data.foreach_set("co", positions.astype(np.float32).ravel())


def new_key(obj: Any, name: str) -> Any:
    """Add a relative shape key to the mesh of ``obj``, and a basis if the mesh has no keys. Return the key."""
    if obj.data.shape_keys is None:
        obj.shape_key_add(name="Basis", from_mix=False)
    return obj.shape_key_add(name=name, from_mix=False)


def _posed(obj: Any, position: Any, context: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the posed vertices (n,3) in object coordinates, and the matrix (4,4) to world space in metres."""
    with mesh_at_position(obj, position, context) as (mesh, evaluated):
        return vertex_positions(mesh), object_to_world(evaluated, context.scene)


def _linear_maps(obj: Any, position: Any, context: Any, posed: np.ndarray) -> np.ndarray:
    """Return the linear map (n,3,3) by which the modifiers move each vertex."""
    had_keys = obj.data.shape_keys is not None
    probe = new_key(obj, "Probe")
    try:
        basis = unkeyed_positions(obj)
        step = PROBE * float(np.ptp(basis, axis=0).max())
        columns = []
        probe.value = 1.0
        for axis in range(3):
            set_key(probe, basis + step * np.eye(3)[axis])
            obj.data.update()
            context.view_layer.update()
            columns.append((_posed(obj, position, context)[0] - posed) / step)
        return np.stack(columns, axis=2)
    finally:
        obj.shape_key_remove(probe)
        if not had_keys:
            obj.shape_key_clear()
        context.view_layer.update()
