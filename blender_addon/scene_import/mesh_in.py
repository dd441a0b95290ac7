"""Mesh -> :class:`SurfaceMesh` in world space and metres, and the same vertices at other frames."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...core.foundation.errors import MeshError
from ...core.geometry.mesh.surface_mesh import SurfaceMesh
from ..objects.linked import is_in, out_of_view
from ..objects.modifier_stack import StackPosition, shown
from ..properties.mirror import clean


def object_to_world(evaluated: Any, scene: Any) -> np.ndarray:
    """(4,4) float64: the object's own coordinates to world space in metres (:func:`unit_scale`)."""
    return scaled(evaluated.matrix_world, scene)


def scaled(matrix_world: Any, scene: Any) -> np.ndarray:
    """(4,4) float64: a matrix to world space, made one to metres."""
    matrix = np.array(matrix_world, dtype=np.float64)
    matrix[:3] *= unit_scale(scene)
    return matrix


def check_matrix(matrix: np.ndarray, when: str = "") -> None:
    """MeshError when a matrix holds what is not a number."""
    if not np.isfinite(matrix).all():
        raise MeshError(
            f"The object's location, rotation or scale is not a number{when}.",
            "Clear it (Alt+G, Alt+R, Alt+S); check drivers, constraints and parents.",
        )


def unit_scale(scene: Any) -> float:
    """Metres that one Blender unit is simulated as: all lengths go through it, both ways."""
    return acceleration_scale(scene) * length_factor(scene)


def acceleration_scale(scene: Any) -> float:
    """Metres a second squared in one Blender unit a second squared: by the Unit Scale alone, so that what is simulated
    at another size falls as everything of that size does.
    """
    return clean(scene.unit_settings.scale_length) if scene.unit_settings.system != "NONE" else 1.0


def length_factor(scene: Any) -> float:
    """Return the factor on all lengths of the scene in the simulation."""
    return clean(scene.sinew.length_factor)


def transform(matrix: np.ndarray, points: np.ndarray) -> np.ndarray:
    """(n,3) points through a (4,4) affine map."""
    return points @ matrix[:3, :3].T + matrix[:3, 3]


@contextmanager
def mesh_of(evaluated: Any, **options: Any) -> Iterator[Any]:
    """The mesh of an evaluated object within it; None of what has none. Options of ``to_mesh``."""
    try:
        yield evaluated.to_mesh(**options)
    finally:
        evaluated.to_mesh_clear()


def changed_mesh(before: int, now: int, frame: float) -> tuple[str, str]:
    """Return the message for a mesh whose number of vertices changes over time, and the remedy."""
    what = f"changes its mesh: {before} vertices at first, and {now} at frame {frame:g}"
    return what, "Remove the modifier that does so from it, or apply that."


@contextmanager
def mesh_at_place(obj: Any, place: StackPosition, context: Any) -> Iterator[tuple[Any, Any]]:
    """The mesh at the place (cut there by ``stack.cut_after``) and the evaluated object, at the present frame.

    A mesh that carries our own result is read as it is, without its keys: its vertices keep the rest shape.
    """
    depsgraph = context.evaluated_depsgraph_get()
    evaluated = obj.evaluated_get(depsgraph)
    if not evaluated.is_evaluated or not is_in(context.view_layer, obj):
        raise out_of_view(f"“{obj.name}”")
    if place.on_itself:
        yield obj.data, evaluated
        return
    with mesh_of(evaluated, preserve_all_data_layers=True, depsgraph=depsgraph) as mesh:
        yield mesh, evaluated


def columns_of(items: Any, name: str, width: int, kind: type) -> np.ndarray:
    """A property of all items of a list of Blender's, (n,width) of the kind in which Blender keeps it."""
    flat = np.empty(width * len(items), dtype=kind)
    items.foreach_get(name, flat)
    return flat.reshape(-1, width)


def vectors_of(items: Any, name: str) -> np.ndarray:
    """A vector property of all items of a list of Blender's, (n,3) float64."""
    return columns_of(items, name, 3, np.float32).astype(np.float64)


def vertex_positions(mesh: Any) -> np.ndarray:
    """(n,3) float64, the object's own coordinates."""
    return vectors_of(mesh.vertices, "co")


def triangles_of(mesh: Any, mirrored: bool) -> np.ndarray:
    """(t,3) int32; turned around when the object's scale mirrors it."""
    mesh.calc_loop_triangles()
    triangles = columns_of(mesh.loop_triangles, "vertices", 3, np.int32)
    return triangles[:, ::-1].copy() if mirrored else triangles


def surface_of(mesh: Any, matrix: np.ndarray) -> SurfaceMesh:
    """The mesh in world space; MeshError when it cannot be simulated."""
    check_matrix(matrix)
    mirrored = np.linalg.det(matrix[:3, :3]) < 0.0
    with np.errstate(invalid="ignore"):  # told by validate
        positions = transform(matrix, vertex_positions(mesh))
    surface = SurfaceMesh(positions, triangles_of(mesh, mirrored))
    surface.validate()
    return surface


def region_surface(obj: Any, scene: Any, context: Any) -> SurfaceMesh:
    """A region object's evaluated surface at the present frame, world space, metres."""
    if obj.type != "MESH":
        raise MeshError(f"The region “{obj.name}” is not a mesh.", "Choose a closed mesh as the region.")
    if not obj.users_collection:  # it stays in the file, since the material names it
        raise MeshError(
            f"The region “{obj.name}” was deleted.", "Choose another one under Physical Materials, or clear Region."
        )
    with shown(obj):
        evaluated = obj.evaluated_get(context.evaluated_depsgraph_get())
        if not evaluated.is_evaluated:
            raise out_of_view(f"The region “{obj.name}”")
        try:
            with mesh_of(evaluated) as mesh:
                return surface_of(mesh, object_to_world(evaluated, scene))
        except MeshError as error:
            raise MeshError(f"The region “{obj.name}”: {error.message}", error.remedy) from error
