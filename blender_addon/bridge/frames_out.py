"""Frames -> absolute shape keys, one a frame, with one linear ``eval_time`` point a key.

Absolute keys play at the same cost however many there are, and are exact between frames, so that motion blur is right.
A key's own ``frame`` cannot be set and drifts as keys are added: ``eval_time`` is keyed at the value that is read back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import bpy
import numpy as np

from ...core.errors import MeshError
from ...core.simulation.job import Job
from .animation_in import at_frame
from .mesh_in import mesh_at_place, transform
from .stack import Place, cut_after, place_of

LINEAR = 1  # number of the interpolation "LINEAR" in Blender's Keyframe.interpolation


def apply_frames(obj: Any, context: Any, job: Job, frames: Sequence[int], read: Callable[[int], np.ndarray]) -> Any:
    """Put baked frames on ``obj``, or on a full duplicate of it, in place of an earlier result.

    The object that carries them is returned. ``read(frame)`` gives (n,3) world positions in metres. Everything is read
    before the scene is touched. MeshError when the mesh has another number of vertices than the job's.
    """
    local = local_frames(job, frames, read)
    remove_result(obj)
    place = place_of(obj)
    target = obj if place.on_itself else _duplicate(obj, place, context, job)
    count = len(target.data.vertices)
    if count != len(job.surface.positions):
        if target != obj:
            _delete(target)
        raise MeshError(
            f"“{obj.name}” has {count} vertices, the bake has {len(job.surface.positions)}.",
            "Undo the edit and press Resume, or Delete Bake and bake again.",
        )
    if place.on_itself and frames[0] == job.frame_start:
        # At rest at the first frame: the mesh's own coordinates, not their image through the matrices.
        local[0] = _own_positions(target.data)
    write_keys(target, frames, local)
    record = obj.sinew.bake
    record.on_itself = place.on_itself
    if not place.on_itself:
        record.result = target
        record.hid_viewport, record.hid_render = obj.hide_viewport, obj.hide_render
        record.hides_original = obj.hide_viewport = obj.hide_render = True
    return target


def local_frames(job: Job, frames: Sequence[int], read: Callable[[int], np.ndarray]) -> list[np.ndarray]:
    """World positions of each frame in the object's own coordinates, (n,3) float32."""
    result = []
    for frame in frames:
        to_local = np.linalg.inv(job.object_to_world[frame - job.frame_start])
        result.append(transform(to_local, read(frame)).astype(np.float32))
    return result


def write_keys(obj: Any, frames: Sequence[int], positions: Sequence[np.ndarray]) -> None:
    """One absolute key a frame on an object without keys."""
    blocks = []
    for frame, points in zip(frames, positions, strict=True):
        block = obj.shape_key_add(name=f"Frame {frame}", from_mix=False)
        block.interpolation = "KEY_LINEAR"
        block.data.foreach_set("co", np.ascontiguousarray(points, dtype=np.float32).ravel())
        blocks.append(block)
    keys = obj.data.shape_keys
    keys.use_relative = False
    _key_eval_time(keys, frames, [block.frame for block in blocks])
    obj.active_shape_key_index = 0
    obj.data.update()


def _key_eval_time(keys: Any, frames: Sequence[int], values: Sequence[float]) -> None:
    # An action of its own: since 4.4 Blender would otherwise put the curve into the object's action.
    animation = keys.animation_data_create()
    animation.action = bpy.data.actions.new(f"{keys.user.name} Bake")
    keys.eval_time = values[0]
    keys.keyframe_insert("eval_time", frame=frames[0])
    curve = _eval_time_curve(animation)
    points = curve.keyframe_points
    points.add(len(frames) - len(points))
    points.foreach_set("co", np.column_stack([frames, values]).astype(np.float32).ravel())
    points.foreach_set("interpolation", np.full(len(frames), LINEAR, dtype=np.int32))
    curve.extrapolation = "CONSTANT"
    curve.update()


def _eval_time_curve(animation: Any) -> Any:
    action = animation.action
    if not hasattr(action, "layers"):  # before 4.4
        return action.fcurves.find("eval_time")
    return action.layers[0].strips[0].channelbag(animation.action_slot).fcurves.find("eval_time")


def _own_positions(mesh: Any) -> np.ndarray:
    flat = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", flat)
    return flat.reshape(-1, 3)


def _duplicate(obj: Any, place: Place, context: Any, job: Job) -> Any:
    """A full copy with its own mesh: the shape at the place at the first frame, with the later modifiers."""
    with cut_after(obj, place), at_frame(context.scene, job.frame_start):
        with mesh_at_place(obj, place, context) as (_, evaluated):
            depsgraph = context.evaluated_depsgraph_get()
            mesh = bpy.data.meshes.new_from_object(evaluated, preserve_all_data_layers=True, depsgraph=depsgraph)
    copy = obj.copy()
    copy.data = mesh
    copy.name = mesh.name = f"{obj.name} Bake"
    copy.sinew.enabled = False
    copy.sinew.property_unset("bake")
    for modifier in list(copy.modifiers)[: place.below]:
        copy.modifiers.remove(modifier)
    if copy.parent_type in {"ARMATURE", "LATTICE", "CURVE"}:
        copy.parent_type = "OBJECT"
    for collection in obj.users_collection:
        collection.objects.link(copy)
    return copy


def remove_result(obj: Any) -> None:
    """Take the baked shapes away again, wherever they are; the artist's own object is shown as it was.

    A copy of a baked object has its record too: shapes that another object names as its bake stay.
    """
    record = obj.sinew.bake
    others = [other for other in bpy.data.objects if other != obj]
    if record.on_itself and obj.data.shape_keys is not None:
        if not any(other.data == obj.data and other.sinew.bake.on_itself for other in others):
            _drop_action(obj.data.shape_keys)
            obj.shape_key_clear()
    result = record.result
    if result is not None:
        record.result = None
        if not any(other.sinew.bake.result == result for other in others):
            _delete(result)
    if result is not None or record.hides_original:  # the artist may have deleted the result, and it was purged
        obj.hide_viewport, obj.hide_render = record.hid_viewport, record.hid_render
    record.on_itself = record.hides_original = False


def lost_words(obj: Any) -> str:
    """What to say of a baked object whose shapes the artist has deleted by hand; "" when they are there."""
    record = obj.sinew.bake
    if record.status == "NONE" or not record.frames:
        return ""
    if record.on_itself:
        keys = obj.data.shape_keys
        return "" if keys is not None and len(keys.key_blocks) >= record.frames else "The baked shapes were removed."
    # A deleted object stays in the file as long as the record names it.
    return "" if record.result is not None and record.result.users_scene else "The result was deleted."


def _delete(obj: Any) -> None:
    mesh = obj.data
    if mesh is not None and mesh.shape_keys is not None:
        _drop_action(mesh.shape_keys)
    bpy.data.objects.remove(obj)
    if mesh is not None and mesh.users == 0:
        bpy.data.meshes.remove(mesh)


def _drop_action(keys: Any) -> None:
    action = keys.animation_data.action if keys.animation_data else None
    keys.animation_data_clear()
    if action is not None and action.users == 0:
        bpy.data.actions.remove(action)
