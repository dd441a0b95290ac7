"""What a body will weigh, estimated from its surface: before there are tetrahedra, and without reading a frame."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.model.settings import EARTH
from ..mirror import clean
from .fields_in import material_weights
from .mesh_in import object_to_world, transform, triangles_of, unit_scale, vertex_positions

THINNEST = 1e-6
"""Part of its bounding box that a closed surface encloses at least; less is an open one, or a sheet."""


def weight_and_size(obj: Any, scene: Any) -> tuple[float, float]:
    """Weight of the object's mesh in N, and its longest side in m, world space; the weight is 0 where the surface
    encloses no volume.

    Painted densities are averaged over the vertices, regions and depths count as what lies below them.
    """
    mesh = obj.data
    positions = transform(object_to_world(obj, scene), vertex_positions(mesh))
    if len(positions) == 0 or not obj.sinew.materials:
        return 0.0, 0.0
    extent = np.ptp(positions, axis=0)
    a, b, c = (positions - positions.mean(axis=0))[triangles_of(mesh, mirrored=False).T]
    volume = abs(float(np.sum(a * np.cross(b, c)))) / 6.0
    if not np.isfinite(volume) or volume <= THINNEST * float(extent.max()) ** 3:
        return 0.0, float(extent.max())
    density = material_weights(obj, mesh).mean(axis=0) @ [clean(m.density) for m in obj.sinew.materials]
    return volume * float(density) * gravity_of(scene), float(extent.max())


def gravity_of(scene: Any) -> float:
    """Strength of the scene's gravity in m/s², or of Earth's where it has none."""
    own = unit_scale(scene) * float(np.linalg.norm(scene.gravity)) if scene.use_gravity else 0.0
    return own or EARTH
