"""Copies of baked objects for game engines, in a temporary scene: morph targets, or a skeleton."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix

from ....core.foundation.errors import named
from ....core.geometry.animation.frame_checks import is_still, largest_distance, size_of
from ....core.geometry.animation.morph_targets import MorphTargets, few_targets, one_per_frame
from ...blend_data.temporary_scene import remove_scene
from ...window.kept_scene import kept_scene
from ..linear_keys import fill_linear
from ..original_coordinates import set_coordinates
from ..shape_keys import drop_action, new_curves
from .root_motion import key_transform, split_root
from .sampled_mesh import SampledMesh

BONE_LENGTH = 0.1
"""Length of a bone as Blender draws it, as a fraction of the mesh's size."""


@dataclass(frozen=True)
class EngineForm:
    """Form in which an engine plays a bake.

    Attributes
    ----------
    form : TARGETS (few morph targets), FRAMES (one morph target per frame) or SKELETON
    tolerance : largest distance of a vertex from its baked position, as a fraction of the size
    count : number of targets or bones regardless of the tolerance, or 0
    root_motion : the object follows the rigid part of the body's motion
    """

    form: str = "TARGETS"
    tolerance: float = 0.01
    count: int = 0
    root_motion: bool = False


@dataclass(frozen=True)
class EngineFit:
    """Copy of one body.

    Attributes
    ----------
    parts : number of its targets or bones
    error : largest distance of a vertex from its baked position, as a fraction of the size
    moves : True if the copy is animated
    """

    name: str
    parts: int
    error: float
    moves: bool


@contextmanager
def engine_scene(context: Any, name: str, frames: int) -> Iterator[Any]:
    """Yield a temporary scene with the frame rate and the units of the present scene, whose frames begin at 0.

    Blender's exporter of glTF lets the window show the exported scene. The window shows its own one again at the end.
    """
    scene, own = bpy.data.scenes.new(name), context.scene
    try:
        scene.render.fps, scene.render.fps_base = own.render.fps, own.render.fps_base
        scene.unit_settings.system = own.unit_settings.system
        scene.unit_settings.scale_length = own.unit_settings.scale_length
        scene.frame_start, scene.frame_end = 0, frames - 1
        with kept_scene(context):
            yield scene
    finally:
        remove_scene(scene)


def add_copy(body: SampledMesh, scene: Any, form: EngineForm, stack: ExitStack) -> EngineFit:
    """Add a copy of a body to a temporary scene. ``stack`` removes the copy at its end."""
    roots, positions = split_root(body.positions, body.matrices, form.root_motion)
    times = np.arange(len(positions), dtype=np.float32)
    set_coordinates(body.mesh, positions[0])
    body.mesh.name = f"{body.name} Mesh"
    with named(body.name):
        if form.form == "SKELETON":
            top, parts, played = _add_skeleton(body, positions, scene, form, stack)
        else:
            top, parts, played = _add_targets(body, positions, scene, form, stack)
    key_transform(top, "", roots, times)
    moves = not is_still(positions) or np.ptp(np.array(roots), axis=0).max() > 0.0
    return EngineFit(body.name, parts, largest_distance(positions, played), moves)


def _add_object(name: str, data: Any, scene: Any, stack: ExitStack) -> Any:
    obj = bpy.data.objects.new(name, data)
    stack.callback(_remove_object, obj)
    scene.collection.objects.link(obj)
    return obj


def _remove_object(obj: Any) -> None:
    drop_action(obj)
    bpy.data.objects.remove(obj)


def _add_targets(
    body: SampledMesh, positions: np.ndarray, scene: Any, form: EngineForm, stack: ExitStack
) -> tuple[Any, int, np.ndarray]:
    """Add a mesh with morph targets. Returns the object, the number of targets, and the vertices (f,n,3) it plays."""
    if form.form == "FRAMES":
        found = one_per_frame(positions)
        names = [f"Frame {k}" for k in range(1, len(positions))]
    else:
        found = few_targets(positions, form.tolerance, form.count)
        names = [f"Shape {k}" for k in range(1, len(found.targets) + 1)]
    obj = _add_object(body.name, body.mesh, scene, stack)
    if names:
        _write_targets(obj, names, positions[0], found, stack)
    return obj, len(names), positions[0] + found.displacements()


def _write_targets(obj: Any, names: Sequence[str], rest: np.ndarray, found: MorphTargets, stack: ExitStack) -> None:
    obj.shape_key_add(name="Basis", from_mix=False)
    for name, target in zip(names, found.targets):
        key = obj.shape_key_add(name=name, from_mix=False)
        key.data.foreach_set("co", np.ascontiguousarray(rest + target, dtype=np.float32).ravel())
    keys, times = obj.data.shape_keys, np.arange(len(found.weights), dtype=np.float32)
    curves = new_curves(keys, f"{obj.name} Shapes")
    stack.callback(drop_action, keys)
    for k, weights in enumerate(found.weights.T, 1):
        keys.key_blocks[k].value = weights[0]
        fill_linear(curves.new(f"key_blocks[{k}].value"), times, weights)


def _add_skeleton(
    body: SampledMesh, positions: np.ndarray, scene: Any, form: EngineForm, stack: ExitStack
) -> tuple[Any, int, np.ndarray]:
    """Add a mesh with an armature. Returns the armature, the number of bones, and the vertices (f,n,3) it plays."""
    from ....core.geometry.animation.skinned_skeleton import skinned_skeleton

    found = skinned_skeleton(positions, form.tolerance, form.count)
    data = bpy.data.armatures.new(f"{body.name} Skeleton")
    stack.callback(bpy.data.armatures.remove, data)
    armature = _add_object(f"{body.name} Skeleton", data, scene, stack)
    obj = _add_object(body.name, body.mesh, scene, stack)
    names = [f"Bone {j}" for j in range(1, len(found.motions) + 1)]
    _add_bones(armature, names, found.joints(), BONE_LENGTH * size_of(positions[0]), scene)
    times = np.arange(len(positions), dtype=np.float32)
    obj.vertex_groups.clear()
    for name, weights, motion in zip(names, found.weights.T, found.motions):
        group = obj.vertex_groups.new(name=name)
        for vertex in np.flatnonzero(weights).tolist():
            group.add([vertex], float(weights[vertex]), "REPLACE")
        rest = data.bones[name].matrix_local
        moved = [rest.inverted() @ Matrix(rows.tolist()).to_4x4() @ rest for rows in motion]
        key_transform(armature, f'pose.bones["{name}"].', moved, times)
    obj.parent = armature
    obj.modifiers.new("Skeleton", "ARMATURE").object = armature
    return armature, len(names), found.positions()


def _add_bones(armature: Any, names: Sequence[str], joints: np.ndarray, length: float, scene: Any) -> None:
    """Add bones along Y at the ``joints``, below one root bone at the origin, as some engines want it."""
    layer = scene.view_layers[0]
    layer.objects.active = armature
    with bpy.context.temp_override(
        scene=scene, view_layer=layer, object=armature, active_object=armature, selected_objects=[armature]
    ):
        bpy.ops.object.mode_set(mode="EDIT")
        try:
            bones = armature.data.edit_bones
            root = bones.new("Root")
            root.head, root.tail = (0.0, 0.0, 0.0), (0.0, length, 0.0)
            for name, joint in zip(names, joints.tolist()):
                bone = bones.new(name)
                bone.head, bone.tail = joint, (joint[0], joint[1] + length, joint[2])
                bone.parent = root
        finally:
            bpy.ops.object.mode_set(mode="OBJECT")
