"""Original coordinates of a mesh: the vertex positions before deformation.

Blender needs original coordinates for the modifier Corrective Smooth, for Generated texture coordinates and for the
attribute of rest positions. Blender takes them from the mesh's own vertices. In a duplicate that carries a bake, these
vertices get the original object's coordinates; shape keys or Mesh Cache replace them by the baked shape.
"""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ..objects.modifier_stack import DEFORMING, PARENT_DEFORMS, StackPosition
from ..scene_import.mesh_in import columns_of, mesh_of

ONLY_DEFORMING = DEFORMING | {"CAST", "CORRECTIVE_SMOOTH", "DISPLACE", "LAPLACIANSMOOTH", "SMOOTH"}


def original_coordinates(obj: Any, position: StackPosition, context: Any) -> np.ndarray:
    """Return the undeformed vertex positions (n,3), float32, of ``obj`` at the current frame, in object coordinates.

    The modifiers before ``position`` are applied, except modifiers that only deform. Shape keys are ignored. The number
    n can differ from the vertex count of the deformed mesh, since Remesh or Weld may merge different vertices.
    """
    plain = obj.copy()
    mesh = plain.data = obj.data.copy()
    try:
        plain.show_only_shape_key, plain.active_shape_key_index = True, 0  # clearing keys leaves them in the file
        plain.parent_type = "OBJECT" if plain.parent_type in PARENT_DEFORMS else plain.parent_type
        for k, modifier in reversed(list(enumerate(plain.modifiers))):
            if k >= position.below or modifier.type in ONLY_DEFORMING:
                plain.modifiers.remove(modifier)
        if len(plain.modifiers) == 0:
            return columns_of(mesh.vertices, "co", 3, np.float32)
        plain.hide_viewport = False
        context.scene.collection.objects.link(plain)
        with mesh_of(plain.evaluated_get(context.evaluated_depsgraph_get())) as shape:
            return columns_of(shape.vertices, "co", 3, np.float32)
    finally:
        bpy.data.objects.remove(plain)
        bpy.data.meshes.remove(mesh)


def set_coordinates(mesh: Any, positions: np.ndarray) -> None:
    """Set a mesh's own vertices to ``positions`` (n,3). Shape keys stay unchanged."""
    mesh.vertices.foreach_set("co", positions.astype(np.float32).ravel())
    mesh.update()


def add_shape(obj: Any, original: np.ndarray, shape: np.ndarray) -> None:
    """Give the duplicate ``obj`` original coordinates, and a shape key that moves them to the simulated ``shape``.

    ``original`` (n,3): mesh vertices of the duplicate. ``shape`` (n,3): positions that the duplicate's modifiers
    receive.
    """
    set_coordinates(obj.data, original)
    obj.shape_key_add(name="Original", from_mix=False)
    key = obj.shape_key_add(name="Simulated", from_mix=False)
    key.data.foreach_set("co", shape.astype(np.float32).ravel())
    key.value = 1.0
    obj.active_shape_key_index = 0
