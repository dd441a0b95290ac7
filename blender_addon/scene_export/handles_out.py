"""Writer of a bake as skinning handles, which Blender plays without Sinew.

The bake consists of weight attributes on the body's mesh, a handle object with one shape key per frame, and a Geometry
Nodes modifier that displaces the body. Weights are float attributes, since vertex groups cannot store negative weights.
The handle object is not in a scene, so that users cannot delete it by mistake. Blender evaluates it nevertheless, since
the node group refers to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import bpy
import numpy as np

from ...core.jobs.store.cached_handles import Handles
from .handle_nodes import ATTRIBUTE, handle_group, handles_of
from .shape_keys import drop_mesh, write_keys


def write_handles(obj: Any, scene: Any, found: Handles, bulges: Mapping[int, np.ndarray] | None = None) -> Any:
    """Add a Geometry Nodes modifier that displaces ``obj`` by skinning handles. Returns the modifier's node group.

    The modifier is the first in the stack. ``found``: handles (affine maps) and vertex weights. ``bulges`` maps an
    index k to matrices (1+h,4,3) that correct linear interpolation. The matrices are added to the handle matrices
    halfway between ``found.frames[k]`` and ``found.frames[k + 1]``. The first matrix applies to all vertices alike, and
    the other h matrices are weighted by the h vertex weights.
    """
    mesh = obj.data
    drop_weights(mesh)
    for k, column in enumerate(found.weights.T, 1):
        # Adding an attribute layer reallocates the others, so no reference is kept.
        mesh.attributes.new(f"{ATTRIBUTE}{k}", "FLOAT", "POINT").data.foreach_set("value", np.ascontiguousarray(column))
    handles = bpy.data.objects.new(f"{obj.name} Handles", bpy.data.meshes.new(f"{obj.name} Handles"))
    handles.data.vertices.add(found.handles[0].size // 3)
    points = [frame.reshape(-1, 3) for frame in found.handles]
    turned = {k: bulge.reshape(-1, 3) for k, bulge in (bulges or {}).items()}
    write_keys(handles, scene, found.frames.tolist(), points, bulges=turned)
    numbers = tuple(found.centre.tolist()), float(found.size[0])
    group = handle_group(f"{obj.name} Bake", handles, found.weights.shape[1], *numbers)
    modifier = obj.modifiers.new("Bake", "NODES")
    modifier.node_group = group
    modifier.show_in_editmode = modifier.show_expanded = False
    obj.modifiers.move(obj.modifiers.find(modifier.name), 0)
    mesh.update()
    return group


def remove_modifiers(obj: Any, group: Any) -> None:
    """Remove the Geometry Nodes modifiers of ``obj`` that use the node ``group``."""
    for modifier in _modifiers(obj, group):
        obj.modifiers.remove(modifier)


def drop_weights(mesh: Any) -> None:
    """Remove the attributes of handle weights from a mesh."""
    for name in [attribute.name for attribute in mesh.attributes if attribute.name.startswith(ATTRIBUTE)]:
        mesh.attributes.remove(mesh.attributes[name])


def drop_group(group: Any) -> None:
    """Remove an unused node group, and then its handle object if it is unused, too."""
    handles = handles_of(group)
    if group.users - group.use_fake_user == 0:
        bpy.data.node_groups.remove(group)
    if handles is None or handles.users - handles.use_fake_user > 0:
        return
    mesh = handles.data
    bpy.data.objects.remove(handles)
    drop_mesh(mesh)


def remove(obj: Any, group: Any, shared: bool) -> None:
    """Remove a result from ``obj``.

    The result consists of the modifiers with the node ``group`` and the handle weights of the mesh. The weights are
    kept if ``shared``: another object's result uses the mesh.
    """
    remove_modifiers(obj, group)
    if not shared:
        drop_weights(obj.data)


def lost(obj: Any, record: Any) -> str:
    """Return a message about missing data of a result on ``obj``. The text is empty if the result is complete.

    ``record``: the bake record.
    """
    group = record.nodes
    if group is None or not _modifiers(obj, group):
        return "The Bake modifier was removed."
    handles = handles_of(group)
    keys = handles.data.shape_keys if handles is not None else None
    if keys is None or len(keys.key_blocks) < record.frames:
        return "The handles of the bake were removed."
    names = {attribute.name for attribute in obj.data.attributes}
    wanted = {f"{ATTRIBUTE}{k}" for k in range(1, len(handles.data.vertices) // 4)}
    return "" if wanted <= names else "Weight attributes of the bake were removed."


def _modifiers(obj: Any, group: Any) -> list[Any]:
    return [modifier for modifier in obj.modifiers if modifier.type == "NODES" and modifier.node_group == group]
