"""Copy of a muscle to the other side of a body, by the names of its material, vertex groups and curve (.L, .R)."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from mathutils import Matrix

from ...core.foundation.errors import MaterialError
from ..objects import surface_transfer
from ..objects.vertex_weights import set_weights
from ..scene_import.mesh_in import triangles_of, vertex_positions
from ..scene_import.settings_in import material_settings
from ..scene_import.weights_in import group_weights
from . import defaults
from .copying import GROUPS


def mirror(obj: Any, material: Any) -> Any:
    """Copy a physical material with its muscle to the other side of ``obj``, and return the copy.

    The other side is across the object's local X axis. A material, vertex group or curve with the name of the other
    side is used; otherwise it is made.

    Raises
    ------
    MaterialError
        The material's name has no side, or the mesh has no other side. Nothing is changed.
    """
    name = bpy.utils.flip_name(material.name)
    if name == material.name:
        raise MaterialError(f"The name “{material.name}” has no side.", "End it with .L or .R, such as Biceps.L.")
    missing = _mirrored_weights(obj, material)
    materials = obj.sinew.materials
    index = next(k for k, each in enumerate(materials) if each == material)
    if name not in materials:
        made = defaults.append_material(obj, material_settings(material))
        made.name = name
    source, target = materials[index], materials[name]
    for owner, other in ((source, target), (source.muscle, target.muscle)):
        _copy(owner, other)
        for field in GROUPS & set(owner.bl_rna.properties.keys()):
            setattr(other, field, bpy.utils.flip_name(getattr(owner, field)))
    for group, weights in missing.items():
        set_weights(obj, group, weights)
    if source.muscle.curve is not None:
        target.muscle.curve = _mirrored_curve(source.muscle.curve, obj, name)
    target.muscle.bone = bpy.utils.flip_name(source.muscle.bone)
    for field in ("region", "region_collection"):
        if (region := getattr(source, field)) is not None:
            known = bpy.data.objects if field == "region" else bpy.data.collections
            setattr(target, field, known.get(bpy.utils.flip_name(region.name), region))
    return target


def _copy(source: Any, target: Any) -> None:
    """Copy the values of all properties except names and pointers to groups of properties."""
    for prop in source.bl_rna.properties:
        if prop.identifier in {"rna_type", "name", "muscle"} or prop.is_readonly:
            continue
        setattr(target, prop.identifier, getattr(source, prop.identifier))


def _mirrored_weights(obj: Any, material: Any) -> dict[str, np.ndarray]:
    """Return the weights (n,) of each vertex group of the other side that ``obj`` does not have yet, by its name."""
    names = [getattr(owner, field, "") for owner in (material, material.muscle) for field in GROUPS]
    names = [name for name in names if name and bpy.utils.flip_name(name) not in obj.vertex_groups]
    transfer = surface_transfer.mirrored(vertex_positions(obj.data), triangles_of(obj.data, mirrored=False))
    found = {}
    for name, weights in zip(names, group_weights(obj, obj.data, names).T, strict=True):
        other = bpy.utils.flip_name(name)
        found[other] = transfer.weights(weights)
        if not found[other].any():
            raise MaterialError(
                f"The mesh has no other side for the vertex group “{name}”.", f"Make a vertex group “{other}” yourself."
            )
    return found


def _mirrored_curve(curve: Any, body: Any, fallback: str) -> Any:
    """Return the curve of the other side of ``body``. A missing curve is made by reflection.

    If the curve's name has no side, that curve is named ``fallback``. An armature without a side has both sides.
    """
    name = bpy.utils.flip_name(curve.name)
    if curve.type == "ARMATURE":
        return bpy.data.objects.get(name, curve)
    name = fallback if name == curve.name else name
    if (known := bpy.data.objects.get(name)) is not None and known.type == curve.type:
        return known
    other = curve.copy()
    other.data = curve.data.copy()
    other.name = name
    reflection = body.matrix_world @ Matrix.Diagonal((-1.0, 1.0, 1.0, 1.0)) @ body.matrix_world.inverted()
    if curve.type == "CURVE":
        other.data.transform(curve.matrix_world.inverted() @ reflection @ curve.matrix_world)
    else:
        other.matrix_world = reflection @ curve.matrix_world
    for collection in curve.users_collection:
        collection.objects.link(other)
    return other
