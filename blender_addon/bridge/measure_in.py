"""Mesh -> the few figures by which tetrahedra are counted beforehand: cheap enough for a panel."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...core.contact.skin import sheet_thickness
from ...core.mesh.surface_mesh import SurfaceMesh
from ...core.mesh.tet_count import SurfaceMeasure, measured
from .finer_in import fineness_between
from .mesh_in import object_to_world, transform, triangles_of, unit_scale, vertex_positions
from .stack import Place, place_of


def surface_measure(obj: Any, place: Place, context: Any) -> tuple[SurfaceMeasure | None, int]:
    """Figures of about the shape that is simulated, and its number of vertices; None where it has no area.

    Nothing is evaluated for it: the mesh itself stands in, or what all modifiers make of it where some of them are
    simulated, as they may mirror or multiply it.
    """
    mesh = obj.data
    if place.below:
        evaluated = obj.evaluated_get(context.evaluated_depsgraph_get())
        mesh = evaluated.data if evaluated.is_evaluated else mesh
    if len(mesh.vertices) == 0 or len(mesh.polygons) == 0:
        return None, len(mesh.vertices)
    positions = transform(object_to_world(obj, context.scene), vertex_positions(mesh))
    surface = SurfaceMesh(positions, triangles_of(mesh, mirrored=False))
    measure = measured(surface)
    places = fineness_between(obj, mesh, surface)
    return measure and replace(measure, places=places), len(positions)


def sheet_distance(obj: Any, context: Any) -> float:
    """How far off the body is kept from sheets at least, in Blender's units, measured so."""
    measure, _ = surface_measure(obj, place_of(obj), context)
    return 0.0 if measure is None else sheet_thickness(measure.size) / unit_scale(context.scene)
