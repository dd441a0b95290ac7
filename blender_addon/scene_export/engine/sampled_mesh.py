"""Meshes of baked objects, sampled at each frame as the viewport shows them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ....core.foundation.errors import MeshError, named
from ....core.geometry.animation.frame_checks import check_frames
from ...objects.linked import is_in, out_of_view
from ...objects.modifier_stack import shown
from ...scene_import.animation_in import at_frame
from ...scene_import.mesh_in import changed_mesh, mesh_of, vertex_positions


@dataclass(frozen=True)
class SampledMesh:
    """Evaluated mesh of an object over the frames.

    Attributes
    ----------
    name : name for the exported object
    mesh : a mesh of its own with the shape, the UV maps and the materials of the first frame
    positions : (f,n,3), vertices of each frame in object coordinates
    matrices : (f,4,4), from object coordinates to the world, in Blender units
    """

    name: str
    mesh: Any
    positions: np.ndarray
    matrices: np.ndarray


def sampled(objects: dict[str, Any], context: Any, frames: Sequence[int], stack: ExitStack) -> list[SampledMesh]:
    """Return the evaluated meshes of ``objects``, by the name for the file, at the ``frames``.

    ``stack`` removes the meshes at its end. Raises MeshError if an object is not in the view layer, a position is not
    a number, or a modifier changes the number of vertices.
    """
    for obj in objects.values():
        if not is_in(context.view_layer, obj):
            raise out_of_view(f"“{obj.name}”")
    positions: dict[str, list[np.ndarray]] = {name: [] for name in objects}
    matrices: dict[str, list[Any]] = {name: [] for name in objects}
    meshes = {}
    with shown(*objects.values()), at_frame(context.scene):
        for frame in frames:
            context.scene.frame_set(frame)
            depsgraph = context.evaluated_depsgraph_get()
            for name, obj in objects.items():
                evaluated = obj.evaluated_get(depsgraph)
                if name not in meshes:
                    meshes[name] = _own_mesh(evaluated, depsgraph, stack)
                with mesh_of(evaluated) as mesh:
                    _check_mesh(obj, len(meshes[name].vertices), len(mesh.vertices), frame)
                    positions[name].append(vertex_positions(mesh))
                matrices[name].append(np.array(evaluated.matrix_world, dtype=np.float64))
    arrays = {name: np.array(each) for name, each in positions.items()}
    for name, obj in objects.items():
        with named(obj.name):
            check_frames(arrays[name], frames)
    return [SampledMesh(name, meshes[name], arrays[name], np.array(matrices[name])) for name in objects]


def _own_mesh(evaluated: Any, depsgraph: Any, stack: ExitStack) -> Any:
    mesh = bpy.data.meshes.new_from_object(evaluated, preserve_all_data_layers=True, depsgraph=depsgraph)
    stack.callback(bpy.data.meshes.remove, mesh)
    return mesh


def _check_mesh(obj: Any, before: int, now: int, frame: int) -> None:
    if before == 0:
        raise MeshError(f"“{obj.name}” has no vertices at frame {frame}.", "Check the modifiers after the bake.")
    if now != before:
        message, remedy = changed_mesh(before, now, frame)
        raise MeshError(f"“{obj.name}” {message}.", f"{remedy} Or choose Alembic or USD, which can store that.")
