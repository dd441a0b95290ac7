"""Mesh -> what is estimated of a body from its surface, before there are tetrahedra and without reading a frame: the
figures by which tetrahedra are counted, cheap enough for a panel, and what it will weigh.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.mesh.surface_mesh import SurfaceMesh
from ...core.settings import EARTH
from ..basics.stack import Place, place_of
from ..properties.mirror import clean
from ..scene_in.finer_in import fineness_between
from ..scene_in.mesh_in import (
    acceleration_scale,
    object_to_world,
    transform,
    triangles_of,
    unit_scale,
    vertex_positions,
)
from ..scene_in.weights_in import material_weights

if TYPE_CHECKING:
    from ...core.tetrahedra.tet_count import SurfaceMeasure

THINNEST = 1e-6
"""Part of the cube of its size that a closed surface encloses at least; less is an open one, or a sheet."""


def surface_measure(obj: Any, place: Place, context: Any) -> tuple[SurfaceMeasure | None, int]:
    """Figures of about the shape that is simulated, and its number of vertices; None where it has no area.

    Nothing is evaluated for it: the mesh itself stands in, or what all modifiers make of it where some of them are
    simulated, as they may mirror or multiply it.
    """
    mesh = obj.data
    if place.below:
        evaluated = obj.evaluated_get(context.evaluated_depsgraph_get())
        mesh = evaluated.data if evaluated.is_evaluated else mesh
    measure, surface = _measured(obj, mesh, context.scene)
    places = measure and fineness_between(obj, mesh, surface)
    return measure and replace(measure, places=places), len(mesh.vertices)


def sheet_distance(obj: Any, context: Any) -> float:
    """How far off the body is kept from sheets at least, in Blender's units, measured so."""
    from ...core.contact.skin import sheet_thickness

    measure, _ = surface_measure(obj, place_of(obj), context)
    return 0.0 if measure is None else sheet_thickness(measure.size) / unit_scale(context.scene)


def weight_and_size(obj: Any, scene: Any) -> tuple[float, float]:
    """Weight of the object's mesh in N, and its longest side in m, world space; the weight is 0 where the surface
    encloses no volume.

    Painted densities are averaged over the vertices, regions and depths count as what lies below them.
    """
    measure, _ = _measured(obj, obj.data, scene)
    if measure is None or not obj.sinew.materials:
        return 0.0, 0.0
    if not THINNEST * measure.size**3 < measure.volume < np.inf:
        return 0.0, measure.size
    density = material_weights(obj, obj.data).mean(axis=0) @ [clean(m.density) for m in obj.sinew.materials]
    return measure.volume * float(density) * gravity_of(scene), measure.size


def gravity_of(scene: Any) -> float:
    """Strength of the scene's gravity in m/s², or of Earth's where it has none."""
    own = acceleration_scale(scene) * float(np.linalg.norm(scene.gravity)) if scene.use_gravity else 0.0
    return own or EARTH


def _measured(obj: Any, mesh: Any, scene: Any) -> tuple[SurfaceMeasure | None, SurfaceMesh]:
    from ...core.tetrahedra.tet_count import measured  # it loads Numba, which Blender's start does not wait for

    positions = transform(object_to_world(obj, scene), vertex_positions(mesh))
    surface = SurfaceMesh(positions, triangles_of(mesh, mirrored=False))
    return measured(surface), surface
