"""Readers of meshes and matrices, in world space and metres."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...core.foundation.errors import MeshError, SeamError
from ...core.geometry.mesh.surface_mesh import SurfaceMesh
from ...core.jobs.job.seams import Seams
from ..objects.linked import is_in, out_of_view
from ..objects.modifier_stack import StackPosition
from ..properties.mirror import clean


def object_to_world(evaluated: Any, scene: Any) -> np.ndarray:
    """Return the matrix from object coordinates to world space in metres, (4,4) float64."""
    return scaled(evaluated.matrix_world, scene)


def scaled(matrix_world: Any, scene: Any) -> np.ndarray:
    """Return a matrix to world space in metres, (4,4) float64.

    ``matrix_world`` (4,4): matrix to Blender's world space, in Blender units.
    """
    matrix = np.array(matrix_world, dtype=np.float64)
    matrix[:3] *= unit_scale(scene)
    return matrix


def check_matrix(matrix: np.ndarray, when: str = "") -> None:
    """Raise MeshError if a matrix is not finite."""
    if not np.isfinite(matrix).all():
        raise MeshError(
            f"The object's location, rotation or scale is not a number{when}.",
            "Clear it (Alt+G, Alt+R, Alt+S); check drivers, constraints and parents.",
        )


def unit_scale(scene: Any) -> float:
    """Return the number of simulated metres per Blender unit, the factor on all lengths."""
    return acceleration_scale(scene) * length_factor(scene)


def acceleration_scale(scene: Any) -> float:
    """Return the scene's Unit Scale, the factor from Blender units/s² to m/s².

    The simulation scale is not included: the simulation scale multiplies lengths, but not accelerations such as
    gravity.
    """
    return clean(scene.unit_settings.scale_length) if scene.unit_settings.system != "NONE" else 1.0


def length_factor(scene: Any) -> float:
    """Return the simulation scale of the scene, a factor on all simulated lengths."""
    return clean(scene.sinew.length_factor)


def transform(matrix: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return points (n,3) transformed by a (4,4) affine matrix."""
    return points @ matrix[:3, :3].T + matrix[:3, 3]


@contextmanager
def mesh_of(evaluated: Any, **options: Any) -> Iterator[Any]:
    """Yield the mesh of an evaluated object, or None if the object has no mesh.

    ``options``: arguments of Blender's ``to_mesh``.
    """
    try:
        yield evaluated.to_mesh(**options)
    finally:
        evaluated.to_mesh_clear()


def changed_mesh(before: int, now: int, frame: float) -> tuple[str, str]:
    """Return the end of a message about a changed number of vertices, and the remedy.

    ``before``, ``now``: numbers of vertices at the first frame and at ``frame``.
    """
    message = f"changes its mesh: {before} vertices at first, and {now} at frame {frame:g}"
    return message, "Remove or apply the modifier that changes the number of vertices."


@contextmanager
def mesh_at_position(obj: Any, position: StackPosition, context: Any) -> Iterator[tuple[Any, Any]]:
    """Yield an object's mesh at the current frame, and the evaluated object.

    The mesh is evaluated with the modifiers before ``position`` in the modifier stack. ``cut_after`` must have disabled
    the modifiers after ``position``. If the object itself can display its bake, the mesh is the object's data without
    modifiers and shape keys: a bake leaves the vertices of these data unchanged. Raises MeshError if the object is not
    in the view layer.
    """
    depsgraph = context.evaluated_depsgraph_get()
    evaluated = obj.evaluated_get(depsgraph)
    if not evaluated.is_evaluated or not is_in(context.view_layer, obj):
        raise out_of_view(f"“{obj.name}”")
    if position.on_itself:
        yield obj.data, evaluated
        return
    with mesh_of(evaluated, preserve_all_data_layers=True, depsgraph=depsgraph) as mesh:
        yield mesh, evaluated


def columns_of(items: Any, name: str, width: int, kind: type) -> np.ndarray:
    """Return a property of the n items in a Blender collection, (n,width).

    ``kind``: Blender's data type of the property.
    """
    flat = np.empty(width * len(items), dtype=kind)
    items.foreach_get(name, flat)
    return flat.reshape(-1, width)


def vectors_of(items: Any, name: str) -> np.ndarray:
    """Return a vector property of the n items in a Blender collection, (n,3) float64."""
    return columns_of(items, name, 3, np.float32).astype(np.float64)


def vertex_positions(mesh: Any) -> np.ndarray:
    """Return the vertex positions of a mesh, (n,3) float64, in object coordinates."""
    return vectors_of(mesh.vertices, "co")


def unkeyed_positions(obj: Any) -> np.ndarray:
    """Return the vertex positions (n,3) of the mesh without shape keys, in object coordinates."""
    keys = obj.data.shape_keys
    return vertex_positions(obj.data) if keys is None else vectors_of(keys.reference_key.data, "co")


def triangles_of(mesh: Any, mirrored: bool) -> np.ndarray:
    """Return the triangles of a mesh as vertex indices, (t,3) int32.

    With ``mirrored``, for an object with a negative scale, the triangles are flipped.
    """
    mesh.calc_loop_triangles()
    triangles = columns_of(mesh.loop_triangles, "vertices", 3, np.int32)
    return triangles[:, ::-1].copy() if mirrored else triangles


def surface_of(mesh: Any, matrix: np.ndarray) -> SurfaceMesh:
    """Return the surface of a mesh in world space.

    Raises MeshError if the surface cannot be simulated.

    ``matrix`` (4,4): matrix from mesh coordinates to world space.
    """
    check_matrix(matrix)
    mirrored = np.linalg.det(matrix[:3, :3]) < 0.0
    with np.errstate(invalid="ignore"):  # validate reports it
        positions = transform(matrix, vertex_positions(mesh))
    surface = SurfaceMesh(positions, triangles_of(mesh, mirrored))
    surface.validate()
    return surface


PIECE, SEAM, CUT_FRAME, TEAR_STRESS = "sinew_piece", "sinew_seam", "sinew_cut_frame", "sinew_tear_stress"
"""Attributes of a mesh that was split: piece, cut frame and tear stress of vertices, and faces of seams."""
NEVER = np.float32(1e30)
"""Cut frame or tear stress of a seam that never opens. Blender replaces infinite values by 0 when it validates a mesh.
"""


def seams_of(mesh: Any) -> Seams | None:
    """Return the seams of a mesh that was split, or None. Raises SeamError if only some of its attributes are left."""
    found = {name: mesh.attributes.get(name) for name in (PIECE, SEAM, CUT_FRAME, TEAR_STRESS)}
    if not any(found.values()):
        return None
    domains = {name: "FACE" if name == SEAM else "POINT" for name in found}
    for name, attribute in found.items():
        if attribute is None or attribute.domain != domains[name]:
            raise SeamError(
                f"The attribute “{name}” of the split mesh is missing, or not on {domains[name].lower()}s.",
                "Restore the mesh and split it again (Cuts).",
            )
    kinds = {PIECE: np.int32, SEAM: bool}
    values = [columns_of(found[name].data, "value", 1, kinds.get(name, np.float32))[:, 0] for name in found]
    mesh.calc_loop_triangles()
    of_polygon = columns_of(mesh.loop_triangles, "polygon_index", 1, np.int32)[:, 0]
    pieces, is_seam, *times = values
    return Seams(pieces, is_seam[of_polygon], *(np.where(each >= NEVER, np.inf, each) for each in times))
