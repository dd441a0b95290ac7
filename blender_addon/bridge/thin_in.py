"""Mesh -> its vertices where it is thinner than a cell, selected."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.mesh.tet_count import measured
from ...core.mesh.thin_parts import thin_parts
from .mesh_in import object_to_world, surface_of


def select_thin(obj: Any, scene: Any) -> int:
    """Select, in place of what is selected, the vertices of the object's own mesh where it is thinner than a cell of
    its lattice; how many. MeshError when it cannot be simulated. Not in Edit Mode.
    """
    mesh = obj.data
    surface = surface_of(mesh, object_to_world(obj, scene))
    thin = thin_parts(surface, measured(surface).size / (obj.sinew.cells_across - 0.5)).vertices
    selected = np.zeros(len(mesh.vertices), dtype=bool)
    selected[thin] = True
    mesh.polygons.foreach_set("select", np.zeros(len(mesh.polygons), dtype=bool))
    mesh.edges.foreach_set("select", np.zeros(len(mesh.edges), dtype=bool))
    mesh.vertices.foreach_set("select", selected)
    return len(thin)
