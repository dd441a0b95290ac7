"""Readers of vertex group weights as arrays, and of named attributes that replace vertex groups.

Blender does not provide the weights of a group as an array. One loop over the vertices therefore reads the weights of
several groups. A name that is not a vertex group is a named attribute of the simulated mesh. If the mesh itself is
simulated, later Geometry Nodes modifiers can create the attribute, too.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import bpy
import numpy as np

from ...core.foundation.errors import SettingsError
from ...core.mechanics.materials.weight_normalization import normalize_weights
from ..objects.modifier_stack import is_cut, later_modifiers, uncut
from ..objects.named_attributes import WEIGHT_KINDS, weight_attributes


def group_weights(obj: Any, mesh: Any, names: Sequence[str]) -> np.ndarray:
    """Return the weights of the vertices in several vertex groups or named attributes, (n, len(names)) float64.

    The weight is 0 if the group, the attribute or the weight is missing. Values of attributes are clipped to 0 to 1.
    Raises SettingsError if a weight is not a number, or if an attribute is not a number at each point.
    """
    weights = np.zeros((len(mesh.vertices), len(names)))
    columns: dict[int, list[int]] = {}
    for column, name in enumerate(names):
        group = obj.vertex_groups.get(name) if name else None
        if group is not None:
            columns.setdefault(group.index, []).append(column)
    if columns:
        for vertex in mesh.vertices:
            for element in vertex.groups:
                for column in columns.get(element.group, ()):
                    weights[vertex.index, column] = element.weight
    bad = np.argwhere(~np.isfinite(weights))
    if len(bad):
        raise SettingsError(
            f"The weight of vertex {bad[0][0]} in the vertex group “{names[bad[0][1]]}” is not a number.",
            "Set the weight of this vertex again (sidebar, tab Item).",
        )
    for column, name in enumerate(names):
        values = _attribute_values(obj, mesh, name) if name and name not in obj.vertex_groups else None
        if values is not None:
            weights[:, column] = values.clip(0.0, 1.0)
    return weights


def has_weights(obj: Any, mesh: Any, name: str) -> bool:
    """Return True if ``name`` is a vertex group, or an attribute that :func:`group_weights` reads.

    Raises SettingsError if the attribute cannot be read, or if only a later modifier can create it.
    """
    if not name:
        return False
    if name in obj.vertex_groups or _attribute_values(obj, mesh, name) is not None:
        return True
    if mesh != obj.data and any(modifier.type == "NODES" for modifier in later_modifiers(obj)):
        raise SettingsError(
            f"The simulated mesh of “{obj.name}” has no vertex group and no attribute “{name}”.",
            "Set Simulate, under Resolution, to the modifier that creates the attribute, or choose another vertex "
            "group.",
        )
    return False


def _attribute_values(obj: Any, mesh: Any, name: str) -> np.ndarray | None:
    """Return the values of a named attribute at the vertices, (n,). Returns None if the mesh has no such attribute."""
    attribute = mesh.attributes.get(name)
    if attribute is not None or mesh != obj.data or obj.mode == "EDIT":  # Edit Mode has no mesh attributes
        return None if attribute is None or obj.mode == "EDIT" else _values_of(attribute, obj, len(mesh.vertices))
    with uncut(obj):
        made = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        attribute = made.attributes.get(name)
        if attribute is None or not is_cut(obj) and len(made.vertices) != len(mesh.vertices):
            return None  # without the cut, later modifiers may add vertices
        return _values_of(attribute, obj, len(mesh.vertices))


def _values_of(attribute: Any, obj: Any, count: int) -> np.ndarray:
    check_attribute(attribute, obj, WEIGHT_KINDS, "float")
    if len(attribute.data) != count:
        raise SettingsError(
            f"The attribute “{attribute.name}” of “{obj.name}” has {len(attribute.data)} points, but {count} vertices "
            "are simulated.",
            "Set Simulate, under Resolution, to the modifier that creates the attribute, or move this modifier before "
            "those that change the number of vertices.",
        )
    values = np.empty(count, dtype=WEIGHT_KINDS[attribute.data_type])
    attribute.data.foreach_get("value", values)
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise SettingsError(
            f"The attribute “{attribute.name}” of “{obj.name}” is not a finite number at vertex {bad[0]}.",
            "Correct the nodes that create it, for example a division by zero.",
        )
    return values.astype(np.float64)


def check_attribute(attribute: Any, obj: Any, kinds: Collection[str], noun: str) -> None:
    """Raise SettingsError if an attribute is not on points, or its type is not one of ``kinds``.

    ``noun``: name of the type for the message.
    """
    if attribute.domain != "POINT" or attribute.data_type not in kinds:
        kind = f"{attribute.data_type.replace('_', ' ').lower()} of each {attribute.domain.lower()}"
        raise SettingsError(
            f"The attribute “{attribute.name}” of “{obj.name}” is a {kind}, not a {noun} at each point.",
            f"Store it as a {noun} on the points.",
        )


def check_no_attribute(obj: Any, name: str) -> None:
    """Raise SettingsError if ``name`` is an attribute, which can be neither painted nor picked."""
    if name and name not in obj.vertex_groups and name in weight_attributes(obj, bpy.context):
        raise SettingsError(
            f"“{name}” is an attribute, not a vertex group, and cannot be painted or picked.",
            "Clear the field to make a vertex group, or change the nodes that create the attribute.",
        )


def material_weights(obj: Any, mesh: Any) -> np.ndarray:
    """Return the weights of all materials per vertex, (n, materials) float64.

    The weights of a vertex are normalized to a sum of 1. Maps of material layers are read as 0.
    """
    names = ["" if m.is_layer else m.vertex_group for m in obj.sinew.materials]
    return normalize_weights(group_weights(obj, mesh, names))


def group_shares(obj: Any, mesh: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the vertices with a positive weight in a group, and the weights.

    The results are vertex indices (p,) int32 and weights (p,).
    """
    weights = group_weights(obj, mesh, [name])[:, 0]
    vertices = np.flatnonzero(weights > 0.0).astype(np.int32)
    return vertices, weights[vertices]


def shader_shares(obj: Any, shader: Any) -> tuple[np.ndarray, bool]:
    """Return the fraction of each vertex's faces that show the Blender material ``shader``, (n,), and whether all faces
    show it. Vertices without faces have the fraction 0.
    """
    mesh = obj.data
    shows = np.array([slot.material == shader for slot in obj.material_slots] or [False])
    slots, corners, vertices = (
        np.empty(count, dtype=np.int32) for count in (len(mesh.polygons), len(mesh.polygons), len(mesh.loops))
    )
    mesh.polygons.foreach_get("material_index", slots)
    mesh.polygons.foreach_get("loop_total", corners)
    mesh.loops.foreach_get("vertex_index", vertices)
    shown = shows[slots.clip(0, len(shows) - 1)]  # Blender shows the last slot on faces whose slot does not exist
    faces = np.bincount(vertices, minlength=len(mesh.vertices))
    shares = np.bincount(vertices, np.repeat(shown, corners), len(mesh.vertices)) / np.maximum(faces, 1)
    return shares, bool(shown.all())
