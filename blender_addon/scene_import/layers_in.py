"""Readers of stiffness maps and of material layers.

A layer replaces the painted materials inside its region and within its range of depths. The layer's map sets the
replaced fraction, 0 to 1.
"""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ...core.foundation.errors import MeshError, SettingsError
from ...core.geometry.mesh.surface_mesh import SurfaceMesh
from ...core.mechanics.materials.layer import Layer
from .mesh_in import region_surface
from .settings_in import depth_settings
from .weights_in import group_weights


def layer_maps(obj: Any, mesh: Any) -> list[np.ndarray | None]:
    """Return the coverage map of each material, weights (n,) or None.

    The entry is None for a material that is not a layer or has no map.
    """
    names = [m.vertex_group if m.is_layer else "" for m in obj.sinew.materials]
    columns = group_weights(obj, mesh, names).T
    return [column if name else None for name, column in zip(names, columns, strict=True)]


def material_layers(obj: Any, maps: list[np.ndarray | None], scene: Any, context: Any) -> tuple[Layer, ...]:
    """Return the material layers in the order of the materials.

    The regions are those at the current frame. Raises MeshError if a region cannot be read.

    ``maps``: result of :func:`layer_maps`.
    """
    return tuple(
        Layer(k, _surfaces(obj, material, scene, context), depth_settings(material, scene), maps[k])
        for k, material in enumerate(obj.sinew.materials)
        if material.is_layer
    )


def stiffness_maps(obj: Any, mesh: Any) -> np.ndarray:
    """Return the stiffness maps of all materials, (n, materials) float64, 0 to 1.

    The value is 0 without a map or a weight.
    """
    return group_weights(obj, mesh, [m.stiffness_map if m.use_range else "" for m in obj.sinew.materials])


def check_maps(obj: Any) -> None:
    """Raise SettingsError if a material's vertex group does not exist."""
    for material in obj.sinew.materials:
        for noun, name in (("map", material.vertex_group), ("stiffness map", material.stiffness_map)):
            if name and name not in obj.vertex_groups and (noun == "map" or material.use_range):
                raise SettingsError(
                    f"The {noun} “{name}” of “{material.name}” does not exist any more.",
                    "Choose a vertex group, or clear Map.",
                )


def _surfaces(obj: Any, material: Any, scene: Any, context: Any) -> tuple[SurfaceMesh, ...]:
    regions, objects = material.regions, []
    if isinstance(regions, bpy.types.Object):
        objects = [regions]
    elif regions is not None:
        own = obj, obj.sinew.bake.result
        objects = sorted((o for o in regions.all_objects if o.type == "MESH" and o not in own), key=lambda o: o.name)
        if not objects:
            raise MeshError(
                f"The collection “{regions.name}”, the region of “{material.name}”, contains no mesh.",
                "Add closed meshes other than the body to the collection, or clear Region.",
            )
    return tuple(region_surface(o, scene, context) for o in objects)
