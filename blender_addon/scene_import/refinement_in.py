"""Refinement of the tetrahedra by a vertex group, and search for parts thinner than a cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.foundation.errors import SettingsError
from ...core.geometry.mesh.surface_mesh import SurfaceMesh
from .mesh_in import object_to_world, surface_of
from .weights_in import group_weights, has_weights

if TYPE_CHECKING:
    from ...core.geometry.tetrahedra.refinement_count import RefinementSamples


def refinement_weights(obj: Any, mesh: Any) -> np.ndarray | None:
    """Return the refinement weights of the vertices, (n,), 0 to 1.

    Returns None if all weights are 0 or refinement is off. Raises SettingsError if the vertex group is missing, or if
    its replacement by an attribute cannot be read.
    """
    settings = obj.sinew
    if not settings.refine_group or settings.refine_factor <= 1.0:
        return None
    if not has_weights(obj, mesh, settings.refine_group):
        raise SettingsError(
            f"The vertex group “{settings.refine_group}” that refines cells does not exist any more.",
            "Choose a vertex group for Finer under Resolution, or none.",
        )
    weights = group_weights(obj, mesh, [settings.refine_group])[:, 0]
    return weights if weights.any() else None


def sampled_refinement(obj: Any, mesh: Any, surface: SurfaceMesh) -> RefinementSamples | None:
    """Return sample points on a surface, with their refinement weights.

    Weights are read only at vertices of triangles that contain a sample point. Returns None if these weights are all 0,
    the vertex group is missing, or the surface has no area. Raises SettingsError if an attribute cannot be read.

    ``surface``: surface of ``mesh``.
    """
    from ...core.geometry.tetrahedra.refinement_count import sample_points

    name = obj.sinew.refine_group
    samples = sample_points(surface) if name else None
    if samples is None:
        return None
    group = obj.vertex_groups.get(name)
    if group is None:
        weights = group_weights(obj, mesh, [name])[:, 0]
        return samples.painted(surface, weights) if weights.any() else None
    weights = np.zeros(len(mesh.vertices))
    for index in np.unique(surface.triangles[samples.triangles]).tolist():
        for element in mesh.vertices[index].groups:
            if element.group == group.index:
                weights[index] = element.weight
    return samples.painted(surface, weights) if weights.any() else None


def thin_vertices(obj: Any, scene: Any) -> np.ndarray:
    """Return the indices of the vertices of too thin parts of the mesh, (k,).

    At these vertices, the object's own mesh is thinner than a lattice cell and not refined enough. Raises MeshError if
    the mesh cannot be simulated. Raises SettingsError if the vertex group of refinement is missing. Not callable in
    Edit Mode.
    """
    from ...core.geometry.tetrahedra.tet_count import measure_surface
    from ...core.geometry.tetrahedra.wall_thickness import thin_parts

    surface = surface_of(obj.data, object_to_world(obj, scene))
    found = thin_parts(surface, measure_surface(surface).size / (obj.sinew.cells_across - 0.5))
    return found.not_finer(refinement_weights(obj, obj.data)).vertices


def select_vertices(mesh: Any, vertices: np.ndarray) -> None:
    """Select only some vertices of a mesh.

    The selection of edges and faces is unchanged. Not callable in Edit Mode.

    ``vertices`` (k,): indices of the vertices.
    """
    selected = np.zeros(len(mesh.vertices), dtype=bool)
    selected[vertices] = True
    mesh.vertices.foreach_set("select", selected)
