"""Corrective shape keys: the baked shape of a frame as a relative key of the posed mesh, driven by a bone.

Modifiers such as Armature move each vertex by an affine map of its own position: ``p = A q + b``. The map is measured
by moving all vertices along x, y and z. The key holds ``q + A^-1 (target - p)``, so that the modifiers move it to the
baked position.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.foundation.errors import MeshError
from ..objects.modifier_stack import cut_after, shown, stack_position
from ..scene_import.mesh_in import mesh_at_position, object_to_world, transform, vectors_of, vertex_positions

PROBE = 1e-2
"""Displacement that measures the map of the modifiers, in sizes of the mesh."""

FLAT = 1e-3
"""Smallest relative singular value of a vertex's map that is inverted."""

LEAST_TURN = math.radians(5.0)
"""Smallest rotation of a bone that drives a key."""


def add_corrective(obj: Any, target: np.ndarray, context: Any) -> Any:
    """Add a shape key that moves the posed mesh of ``obj`` to the baked shape at the current frame. Return the key.

    ``target`` (n,3): baked vertex positions, world space, m.

    Raises
    ------
    MeshError
        No modifier deforms the simulated shape, or a modifier before the simulation changes the number of vertices.
    """
    position = stack_position(obj)
    if position.on_itself:
        raise MeshError(
            "The mesh itself is simulated, so no pose needs a correction.",
            "Deform the mesh by an Armature modifier, and bake again.",
        )
    # The bake hides the original, and Blender does not evaluate hidden objects.
    with shown(obj), cut_after(obj, position):
        posed, matrix = _posed(obj, position, context)
        rest = vertex_positions(obj.data)
        if not len(posed) == len(rest) == len(target):
            raise MeshError(
                "Modifiers before the simulated shape change the number of vertices.",
                "Put them after the modifier under Resolution > Simulate.",
            )
        linear = _linear_maps(obj, position, context, posed)
    own = transform(np.linalg.inv(matrix), target)
    moved = np.einsum("nij,nj->ni", np.linalg.pinv(linear, rcond=FLAT), own - posed)
    if obj.data.shape_keys is None:
        obj.shape_key_add(name="Basis", from_mix=False)
    key = obj.shape_key_add(name=f"Corrective {context.scene.frame_current}", from_mix=False)
    basis = vectors_of(obj.data.shape_keys.reference_key.data, "co")
    key.data.foreach_set("co", (basis + moved).astype(np.float32).ravel())
    key.value = 1.0
    return key


def _posed(obj: Any, position: Any, context: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the posed vertices (n,3) in object coordinates, and the matrix (4,4) to world space in metres."""
    with mesh_at_position(obj, position, context) as (mesh, evaluated):
        return vertex_positions(mesh), object_to_world(evaluated, context.scene)


def _linear_maps(obj: Any, position: Any, context: Any, posed: np.ndarray) -> np.ndarray:
    """Return the linear map (n,3,3) by which the modifiers move each vertex."""
    had_keys = obj.data.shape_keys is not None
    if not had_keys:
        obj.shape_key_add(name="Basis", from_mix=False)
    probe = obj.shape_key_add(name="Probe", from_mix=False)
    try:
        basis = vectors_of(obj.data.shape_keys.reference_key.data, "co")
        step = PROBE * float(np.ptp(basis, axis=0).max())
        columns = []
        probe.value = 1.0
        for axis in range(3):
            probe.data.foreach_set("co", (basis + step * np.eye(3)[axis]).astype(np.float32).ravel())
            obj.data.update()
            context.view_layer.update()
            columns.append((_posed(obj, position, context)[0] - posed) / step)
        return np.stack(columns, axis=2)
    finally:
        obj.shape_key_remove(probe)
        if not had_keys:
            obj.shape_key_clear()
        context.view_layer.update()


def drive(key: Any, obj: Any) -> str:
    """Drive a key by the bone of the object's armature that is rotated most. Return the bone's name, or "".

    The key's value is 0 at the bone's rest rotation and 1 at the present one. The name is empty if no bone is rotated.
    """
    armature = next((m.object for m in obj.modifiers if m.type == "ARMATURE" and m.object is not None), None)
    if armature is None:
        return ""
    turns = {bone.name: bone.matrix_basis.to_euler("XYZ") for bone in armature.pose.bones}
    name = max(turns, key=lambda each: max(abs(angle) for angle in turns[each]), default="")
    if not name:
        return ""
    axis = int(np.argmax(np.abs(turns[name])))
    angle = float(turns[name][axis])
    if abs(angle) < LEAST_TURN:
        return ""
    curve = key.driver_add("value")
    curve.driver.type = "AVERAGE"
    variable = curve.driver.variables.new()
    variable.type = "TRANSFORMS"
    target = variable.targets[0]
    target.id, target.bone_target = armature, name
    target.transform_type, target.transform_space = f"ROT_{'XYZ'[axis]}", "LOCAL_SPACE"
    for modifier in list(curve.modifiers):
        curve.modifiers.remove(modifier)
    for point, (x, y) in zip(_two_points(curve), sorted(((0.0, 0.0), (angle, 1.0))), strict=True):
        point.co, point.interpolation = (x, y), "LINEAR"
    curve.extrapolation = "CONSTANT"
    return name


def _two_points(curve: Any) -> Any:
    points = curve.keyframe_points
    while len(points):
        points.remove(points[0])
    points.add(2)
    return points
