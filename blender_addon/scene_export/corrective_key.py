"""Corrective shape keys: the baked shape of a frame as a relative key of the posed mesh, driven by a bone."""

from __future__ import annotations

import math
from typing import Any

import bpy
import numpy as np

from ...core.foundation.errors import MeshError
from ..objects import surface_transfer
from ..objects.modifier_stack import stack_position
from ..scene_import.mesh_in import triangles_of, unkeyed_positions, vectors_of
from .key_of_shape import displacements_to, new_key, set_key

LEAST_TURN = math.radians(5.0)
"""Smallest rotation of a bone that drives a key."""

KEPT_BY_REFLECTION = "ROT_X"
"""Component of a bone's rotation that a reflection across X keeps. The other two change their sign."""


def add_corrective(obj: Any, target: np.ndarray, bone: Any, context: Any) -> Any:
    """Add a shape key that moves the posed mesh of ``obj`` to the baked shape at the current frame. Return the key.

    ``target`` (n,3): baked vertex positions, world space, m. ``bone``: pose bone that drives the key, or None.

    Raises
    ------
    MeshError
        No modifier deforms the simulated shape, or a modifier before the simulation changes the number of vertices.
    """
    if stack_position(obj).on_itself:
        raise MeshError(
            "The mesh itself is simulated, so no pose needs a correction.",
            "Deform the mesh by an Armature modifier, and bake again.",
        )
    moved = displacements_to(obj, target, context)
    # The bone's name comes last, so that the key's name ends with the side.
    words = ["Corrective", str(context.scene.frame_current), *([] if bone is None else [bone.name])]
    key = new_key(obj, " ".join(words))
    set_key(key, unkeyed_positions(obj) + moved)
    key.value = 1.0
    if bone is not None:
        axis, angle = turn_of(bone)
        _drive(key, bone, f"ROT_{'XYZ'[axis]}", angle)
    return key


def bones_of(obj: Any) -> Any:
    """Return the pose bones of the armature that deforms ``obj``; () without an armature."""
    found = next((m.object for m in obj.modifiers if m.type == "ARMATURE" and m.object is not None), None)
    return () if found is None else found.pose.bones


def turned_bone(obj: Any, name: str = "") -> Any:
    """Return the pose bone called ``name``, or else the one that is rotated most.

    Returns None if no bone is rotated. Raises MeshError if the bone does not exist or is not rotated.
    """
    bones = bones_of(obj)
    if not name:
        bone = max(bones, key=lambda each: abs(turn_of(each)[1]), default=None)
        return None if bone is None or abs(turn_of(bone)[1]) < LEAST_TURN else bone
    bone = next((each for each in bones if each.name == name), None)
    if bone is None:
        raise MeshError(f"The armature has no bone “{name}”.", "Choose one of its bones.")
    if abs(turn_of(bone)[1]) < LEAST_TURN:
        raise MeshError(
            f"The bone “{name}” is not rotated at this frame.", "Go to a frame of the pose, or choose another bone."
        )
    return bone


def turn_of(bone: Any) -> tuple[int, float]:
    """Return the axis (0, 1, 2) about which a pose bone is rotated most, and the angle, rad."""
    angles = bone.matrix_basis.to_euler("XYZ")
    axis = int(np.argmax(np.abs(angles)))
    return axis, float(angles[axis])


def mirror_corrective(obj: Any, key: Any) -> Any:
    """Add or update the mirror image of a corrective key across the X axis of ``obj``, and return it.

    The bone of the other side drives it.

    Raises
    ------
    MeshError
        The key's name has no side (.L, .R), the mesh has no other side where the key moves it, no bone drives the key,
        or the armature lacks the bone of the other side. Nothing is changed.
    """
    name = bpy.utils.flip_name(key.name)
    if name == key.name:
        raise MeshError(f"The name “{key.name}” has no side.", "End it with .L or .R, such as Elbow.L.")
    curve = _driver_of(obj, key)
    if curve is None:
        raise MeshError(f"No bone drives the shape key “{key.name}”.", "Make it with Frame to Corrective Key.")
    target = curve.driver.variables[0].targets[0]
    other = target.id.pose.bones.get(bpy.utils.flip_name(target.bone_target))
    if other is None:
        missing = bpy.utils.flip_name(target.bone_target)
        raise MeshError(f"The armature “{target.id.name}” has no bone “{missing}”.", "Name its bones with .L and .R.")
    basis = unkeyed_positions(obj)
    transfer = surface_transfer.mirrored(basis, triangles_of(obj.data, mirrored=False))
    moved = transfer.values((vectors_of(key.data, "co") - basis) * [-1.0, 1.0, 1.0])
    if not moved.any():
        raise MeshError("The mesh has no other side where the key moves it.", "Mirror a symmetric mesh.")
    angle = max((point.co.x for point in curve.keyframe_points), key=abs)
    flipped = angle if target.transform_type == KEPT_BY_REFLECTION else -angle
    made = obj.data.shape_keys.key_blocks.get(name) or new_key(obj, name)
    set_key(made, basis + moved)
    made.driver_remove("value")
    _drive(made, other, target.transform_type, flipped)
    return made


def _driver_of(obj: Any, key: Any) -> Any:
    """Return the driver of a key's value by one bone, or None."""
    data = obj.data.shape_keys.animation_data
    path = key.path_from_id("value")
    for curve in () if data is None else data.drivers:
        variables = curve.driver.variables
        if curve.data_path == path and len(variables) == 1 and variables[0].type == "TRANSFORMS":
            return curve if variables[0].targets[0].bone_target and len(curve.keyframe_points) else None
    return None


def _drive(key: Any, bone: Any, component: str, angle: float) -> None:
    """Drive a key by a rotation of a bone: 0 at the rest rotation, 1 at ``angle``, rad.

    ``component``: ``ROT_X``, ``ROT_Y`` or ``ROT_Z``.
    """
    curve = key.driver_add("value")
    curve.driver.type = "AVERAGE"
    variable = curve.driver.variables.new()
    variable.type = "TRANSFORMS"
    target = variable.targets[0]
    target.id, target.bone_target = bone.id_data, bone.name
    target.transform_type, target.transform_space = component, "LOCAL_SPACE"
    for modifier in list(curve.modifiers):
        curve.modifiers.remove(modifier)
    for point, (x, y) in zip(_two_points(curve), sorted(((0.0, 0.0), (angle, 1.0))), strict=True):
        point.co, point.interpolation = (x, y), "LINEAR"
    curve.extrapolation = "CONSTANT"


def _two_points(curve: Any) -> Any:
    points = curve.keyframe_points
    while len(points):
        points.remove(points[0])
    points.add(2)
    return points
