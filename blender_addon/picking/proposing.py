"""Proposal of dynamic nodes for a body at rest.

Dynamic nodes are the vertices whose motion the ConJac solvers integrate in time. The rest of the body follows
quasistatically.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.foundation.errors import SettingsError
from ...core.geometry.mesh.surface_mesh import SurfaceMesh
from ..scene_import import picks
from ..scene_import.layers_in import layer_maps, material_layers, stiffness_maps
from ..scene_import.mesh_in import object_to_world, transform, triangles_of, vertex_positions
from ..scene_import.rest_in import own_rest
from ..scene_import.settings_in import material_settings
from ..scene_import.weights_in import group_weights
from ..translations.translate import translated
from . import picking

ALIKE = 0.01
"""Largest relative difference in stiffness between equal mirror vertices."""


def propose(obj: Any, context: Any) -> tuple[Any, int]:
    """Replace the body's dynamic nodes by proposed ones. Returns the vertex group and the number of nodes.

    Dynamic nodes are the vertices whose motion the ConJac solvers integrate in time. Nodes are chosen on the mesh
    itself, so the rest shape of the mesh is used, before any modifier. Not callable in Edit Mode. Raises SinewError if
    the mesh, its rest shape or a material's region cannot be used.
    """
    # Imports kernels, which must not delay Blender's start.
    from ...core.mechanics.constraints.propose_nodes import propose_nodes, stiff_parts

    mesh, count = obj.data, obj.sinew.node_count
    own = own_rest(obj, len(mesh.vertices))
    own = vertex_positions(mesh) if own is None else own
    surface = SurfaceMesh(transform(object_to_world(obj, context.scene), own), triangles_of(mesh, mirrored=False))
    surface.validate()
    softness = _softness(obj, surface, context)
    held = group_weights(obj, mesh, [obj.sinew.pin_group])[:, 0] >= obj.sinew.pin_threshold
    opposite = picking.mirrored(own)
    mirror = opposite if mesh.use_mirror_x or _is_symmetric(opposite, softness, held) else None
    part = stiff_parts(surface.triangles, softness)
    nodes = propose_nodes(surface.positions, softness, np.flatnonzero(held), count, part, mirror)
    group = picks.group_of(obj, "NODES", make=True)
    picks.refill(obj, group, nodes.tolist())
    return group, len(nodes)


def _softness(obj: Any, surface: SurfaceMesh, context: Any) -> np.ndarray:
    """Return the reciprocal of Young's modulus per vertex, (n,), 1/Pa; 0 at vertices without a face."""
    from ...core.mechanics.materials.surface_stiffness import surface_stiffness

    if not obj.sinew.materials:
        raise SettingsError("The body has no physical material.", "Add one under Physical Materials.")
    names = ["" if m.is_layer else m.vertex_group for m in obj.sinew.materials]
    weights = group_weights(obj, obj.data, names)
    layers = material_layers(obj, layer_maps(obj, obj.data), context.scene, context)
    materials = [material_settings(m) for m in obj.sinew.materials]
    softness = 1.0 / surface_stiffness(surface, weights, materials, layers, stiffness_maps(obj, obj.data))
    softness[np.setdiff1d(np.arange(len(softness)), surface.triangles)] = 0.0
    return softness


def _is_symmetric(opposite: np.ndarray, softness: np.ndarray, held: np.ndarray) -> bool:
    """Return True if mirror vertices have equal softness and pins; ``opposite`` (n,) is -1 without a mirror vertex."""
    return bool(
        (opposite >= 0).all()
        and np.allclose(softness, softness[opposite], rtol=ALIKE, atol=0.0)
        and np.array_equal(held, held[opposite])
    )


def node_words(obj: Any) -> str:
    """Return a note for a body without dynamic nodes, or "".

    The note says that the body will not jiggle, since the ConJac solvers integrate only dynamic nodes in time.
    """
    group = obj.vertex_groups.get(obj.sinew.node_group)
    if group is not None and (_are_noted(obj, group.name) or _is_filled(obj, group)):
        return ""
    return translated("No dynamic nodes: the body will not jiggle")


def _are_noted(obj: Any, name: str) -> bool:
    """Return True if picked vertices are recorded for the vertex group ``name``."""
    return any(record.group == name for record in obj.sinew.picks)


def _is_filled(obj: Any, group: Any) -> bool:
    elements = (element for vertex in obj.data.vertices for element in vertex.groups)
    return any(element.group == group.index and element.weight >= picks.FULL for element in elements)
