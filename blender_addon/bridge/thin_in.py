"""Mesh -> its vertices where it is thinner than a cell, found and selected."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.mesh.tet_count import measured
from ...core.mesh.thin_parts import thin_parts
from .finer_in import fineness
from .mesh_in import object_to_world, surface_of


def thin_vertices(obj: Any, scene: Any) -> np.ndarray:
    """The vertices of the object's own mesh where it is thinner than a cell of its lattice and not painted finer, (k,).
    MeshError when it cannot be simulated, SettingsError when the group of what is finer is gone. Not in Edit Mode.
    """
    surface = surface_of(obj.data, object_to_world(obj, scene))
    found = thin_parts(surface, measured(surface).size / (obj.sinew.cells_across - 0.5))
    return found.not_finer(fineness(obj, obj.data)).vertices


def select_vertices(mesh: Any, vertices: np.ndarray) -> None:
    """Select these vertices (k,) and no others; edges and faces stay as they are. Not in Edit Mode."""
    selected = np.zeros(len(mesh.vertices), dtype=bool)
    selected[vertices] = True
    mesh.vertices.foreach_set("select", selected)
