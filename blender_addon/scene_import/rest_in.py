"""Rest shape of a body (its mesh or a shape key), and initial shape of the simulation."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.foundation.errors import MeshError, SettingsError
from ...core.geometry.mesh.surface_mesh import SurfaceMesh
from ..objects.modifier_stack import cut_after, stack_position
from .mesh_in import mesh_at_position, object_to_world, surface_of, transform, vectors_of, vertex_positions

KEY_NAME = "Rest Shape"


def rest_and_start(obj: Any, mesh: Any, evaluated: Any, scene: Any) -> tuple[SurfaceMesh, np.ndarray | None]:
    """Return the surface at rest and the vertex positions at the current frame, in world space.

    The positions (n,3), m, are None if they equal the rest positions. Raises SinewError if the rest shape cannot be
    used.

    ``mesh``: mesh after the modifiers that precede the simulation.
    """
    matrix = object_to_world(evaluated, scene)
    surface, own = surface_of(mesh, matrix), own_rest(obj, len(mesh.vertices))
    if own is None:
        return surface, None
    rest = SurfaceMesh(transform(matrix, own), surface.triangles)
    rest.validate()
    return rest, None if np.array_equal(rest.positions, surface.positions) else surface.positions


def own_rest(obj: Any, count: int) -> np.ndarray | None:
    """Return the vertex positions of the chosen rest shape, (n,3) in object coordinates.

    Returns None if no shape key is chosen as the rest shape. Raises SettingsError if the shape key is missing. Raises
    MeshError if the shape key does not have ``count`` vertices, the number in the simulated mesh.
    """
    name, keys = obj.sinew.rest_key, obj.data.shape_keys
    if not name:
        return None
    block = keys.key_blocks.get(name) if keys is not None else None
    if block is None:
        raise SettingsError(
            f"The shape key “{name}”, the rest shape of “{obj.name}”, does not exist any more.",
            "Choose a shape key for Rest Shape under Resolution, or none.",
        )
    if len(block.data) != count:
        raise MeshError(
            f"The rest shape “{name}” has {len(block.data)} vertices, the simulated mesh {count}.",
            "Set Simulate to a modifier before the one that changes the mesh, or clear Rest Shape.",
        )
    return vectors_of(block.data, "co")


def store_rest(obj: Any, context: Any) -> str:
    """Store the present shape of the simulated mesh as the rest shape.

    The shape is stored as a shape key of value 0. Returns the name of the shape key. Raises MeshError if the modifiers
    that precede the simulation change the number of vertices.
    """
    position = stack_position(obj)
    with cut_after(obj, position), mesh_at_position(obj, position, context) as (mesh, _evaluated):
        positions = vertex_positions(mesh)
    if len(positions) != len(obj.data.vertices):
        raise MeshError(
            f"Simulated modifiers change the mesh from {len(obj.data.vertices)} to {len(positions)} vertices: a shape "
            "key cannot store that.",
            "Set Simulate, under Resolution, to a modifier before the one that changes the mesh.",
        )
    if obj.data.shape_keys is None:
        obj.shape_key_add(name="Basis", from_mix=False)
    kept = obj.data.shape_keys.key_blocks.get(obj.sinew.rest_key)
    block = kept if kept is not None and kept.name.startswith(KEY_NAME) else obj.shape_key_add(name=KEY_NAME)
    block.value = 0.0
    block.data.foreach_set("co", positions.astype(np.float32).ravel())
    obj.sinew.rest_key = block.name
    return block.name
