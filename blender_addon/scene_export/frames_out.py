"""Writer of baked frames to the scene: shape keys, handles for Geometry Nodes, or a file for the Mesh Cache modifier.

The frames are written to the object itself, or to a duplicate of the object with its own mesh. The object with the
result is called the carrier.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import numpy as np

from ...core.foundation.errors import MeshError
from ...core.foundation.files.point_cache import write_point_cache
from ...core.jobs.job.job import Job
from ...core.jobs.store.cached_handles import Handles
from ..objects.duplicate_result import local_views_of, show_in_local_views
from ..objects.linked import has_linked_mesh
from ..objects.modifier_stack import StackPosition, cut_after, stack_position
from ..objects.render_differences import body_words, modifiers_differ
from ..scene_import.animation_in import at_frame
from ..scene_import.mesh_in import columns_of, mesh_at_position, transform
from . import bone_action, handles_out, mesh_cache, shape_keys
from .between_frames import bulges, bulges_of_handles, smaller_words
from .followers import left_behind_words
from .original_coordinates import add_shape, original_coordinates, set_coordinates
from .result_attributes import remove_attributes

KINDS: dict[str, ModuleType] = {
    "KEYS": shape_keys,
    "NODES": handles_out,
    "CACHE": mesh_cache,
    "BONES": bone_action,
}
"""Module per type of result. ``remove`` of a module removes a result, ``lost`` reports missing data of a result."""

SAME = 1e-6
"""Largest difference of coordinates that counts as round-off, as a fraction of the mesh's longest side."""


def apply_frames(obj: Any, context: Any, job: Job, frames: Sequence[int], read: Callable[[int], np.ndarray]) -> Any:
    """Write baked frames as shape keys, and remove the earlier result. Returns the carrier of the result.

    The carrier is ``obj`` or a duplicate of ``obj`` with its own mesh. ``read(frame)`` returns world positions (n,3),
    m. All frames are read before the scene is changed. Raises MeshError if the carrier's mesh does not have the job's
    number of vertices.
    """
    local = list(local_frames(job, frames, read))
    target = _carrier(obj, context, job)
    rest = None
    if target == obj:
        # The job's first frame is the rest shape: use the mesh's vertices, without the round-off of transforms.
        rest = _own_positions(target.data)
        if frames[0] == job.frame_start:
            local[0], rest = rest, None
    elif (rest := _original_of(obj, target, context, job)) is not None:
        set_coordinates(target.data, rest)
    shape_keys.write_keys(target, context.scene, frames, local, rest, bulges(job, frames, local))
    _note_carrier(obj, target, context, "KEYS")
    return target


def apply_handles(obj: Any, context: Any, job: Job, handles: Handles) -> Any:
    """Write baked frames as skinning handles, and remove the earlier result. Returns the carrier of the result.

    The carrier is ``obj`` or a duplicate of ``obj`` with its own mesh. The handles are affine maps in object
    coordinates, blended by vertex weights. Raises MeshError if the carrier's mesh does not have the job's number of
    vertices.
    """
    target = _carrier(obj, context, job, on_itself=None if job.body.initial_shape is None else False)
    if job.body.initial_shape is not None:  # handles displace the rest shape, not the initial shape
        (rest,) = local_frames(job, [job.frame_start], lambda _frame: job.body.surface.positions)
        set_coordinates(target.data, rest)
    shape, original = _own_positions(target.data), _original_of(obj, target, context, job)
    shown = handles.frames >= job.first_shown
    handles = handles._replace(frames=handles.frames[shown], handles=handles.handles[shown])
    turned = bulges_of_handles(shape, job, handles)
    obj.sinew.bake.nodes = handles_out.write_handles(target, context.scene, handles, turned)
    if original is not None:
        add_shape(target, original, shape)
    _note_carrier(obj, target, context, "NODES")
    return target


def apply_cache(
    obj: Any, context: Any, job: Job, frames: Sequence[int], read: Callable[[int], np.ndarray], folder: Path
) -> Any:
    """Write baked frames as a PC2 file in ``folder``, for a Mesh Cache modifier. Returns the carrier of the modifier.

    The carrier is ``obj`` or a duplicate of ``obj`` with its own mesh. ``read(frame)`` returns world positions (n,3),
    m. Raises StoreError if the file cannot be written. Raises MeshError if the simulated mesh does not have the job's
    number of vertices.
    """
    position, points = stack_position(obj), len(job.body.surface.positions)
    local = local_frames(job, frames, read)
    if position.on_itself and frames[0] == job.frame_start and len(obj.data.vertices) == points:
        next(local)
        local = itertools.chain([_own_positions(obj.data)], local)
    with cut_after(obj, position), mesh_at_position(obj, position, context) as (mesh, _):
        count = len(mesh.vertices)
    _check_count(obj, count, job)
    path = mesh_cache.cache_path(folder)
    write_point_cache(path, frames[0], local, len(frames), points)
    # If the simulated modifiers differ in renders, a duplicate with these modifiers applied carries the result.
    alike = not modifiers_differ(list(obj.modifiers)[: position.below], context.scene)
    target = _carrier(
        obj, context, job, on_itself=alike and count == len(obj.data.vertices) and not has_linked_mesh(obj)
    )
    if (original := _original_of(obj, target, context, job)) is not None:
        set_coordinates(target.data, original)
    mesh_cache.add_cache(target, context.scene, stack_position(obj).below if target == obj else 0, path, frames[0])
    _note_carrier(obj, target, context, "CACHE")
    record = obj.sinew.bake
    record.message = record.message or smaller_words(job, frames, local_frames(job, frames, read))
    return target


def _carrier(obj: Any, context: Any, job: Job, on_itself: bool | None = None) -> Any:
    """Remove the earlier result, and return the carrier of the new result: ``obj`` or a new duplicate."""
    before, target = _detach(obj), obj
    try:
        position = stack_position(obj)
        if not (position.on_itself if on_itself is None else on_itself):
            target = _duplicate(obj, position, context, job)
        _check_count(obj, len(target.data.vertices), job)
    except MeshError:
        if target != obj:
            _delete(target)
        target = obj
        raise
    finally:
        if before is not None:
            _hand_over(before, target, moves=target != obj)
    if target != obj:
        target.name = target.data.name = f"{obj.name} Bake"
    return target


def _original_of(obj: Any, target: Any, context: Any, job: Job) -> np.ndarray | None:
    """Return the undeformed vertex positions (n,3) of ``obj`` if its duplicate needs them, else None."""
    if target == obj:
        return None
    own = _own_positions(target.data)
    with at_frame(context.scene, job.frame_start):
        found = original_coordinates(obj, stack_position(obj), context)
    if len(found) != len(own) or np.abs(found - own).max() <= SAME * np.ptp(own, axis=0).max():
        return None
    return found


def _check_count(obj: Any, count: int, job: Job) -> None:
    if count != len(job.body.surface.positions):
        raise MeshError(
            f"“{obj.name}” has {count} vertices, the bake has {len(job.body.surface.positions)}.",
            "Undo the edit and press Resume, or Delete Bake and bake again.",
        )


def _note_carrier(obj: Any, target: Any, context: Any, kind: str) -> None:
    record = obj.sinew.bake
    record.kind = kind
    record.on_itself = target == obj
    left = left_behind_words(obj, target, kind, context), body_words(obj, context.scene)
    record.left_behind = " ".join(filter(None, left))
    if target != obj:
        record.result, target.sinew.bake_of = target, obj.name
        record.hid_viewport, record.hid_render = obj.hide_viewport, obj.hide_render
        record.hides_original = obj.hide_viewport = obj.hide_render = True


def local_frames(job: Job, frames: Sequence[int], read: Callable[[int], np.ndarray]) -> Iterator[np.ndarray]:
    """Yield the positions of each frame in object coordinates, (n,3) float32."""
    for frame in frames:
        to_local = np.linalg.inv(job.frame_matrices[frame - job.frame_start])
        yield transform(to_local, read(frame)).astype(np.float32)


def _own_positions(mesh: Any) -> np.ndarray:
    return columns_of(mesh.vertices, "co", 3, np.float32)


def _duplicate(obj: Any, position: StackPosition, context: Any, job: Job) -> Any:
    """Return a copy of ``obj`` with the modifiers before ``position`` applied to the mesh."""
    with cut_after(obj, position), at_frame(context.scene, job.frame_start):
        with mesh_at_position(obj, position, context) as (_, evaluated):
            depsgraph = context.evaluated_depsgraph_get()
            mesh = bpy.data.meshes.new_from_object(evaluated, preserve_all_data_layers=True, depsgraph=depsgraph)
    copy = obj.copy()
    if copy.override_library is not None:
        copy.make_local(clear_liboverride=True)
    copy.data = mesh
    copy.sinew.enabled = False
    copy.sinew.property_unset("bake")
    for modifier in list(copy.modifiers)[: position.below]:
        copy.modifiers.remove(modifier)
    mesh_cache.remove(copy)
    if copy.parent_type in {"ARMATURE", "LATTICE", "CURVE"}:
        copy.parent_type = "OBJECT"
    for collection in obj.users_collection:
        collection.objects.link(copy)
    return copy


def remove_result(obj: Any) -> None:
    """Remove the result from the object or its duplicate, and restore the object's visibility."""
    result = _detach(obj)
    if result is not None:
        _hand_over(result, obj)


def _hand_over(before: Any, now: Any, moves: bool = False) -> None:
    """Delete the duplicate of an earlier bake, and remap its users to the object ``now``."""
    homes, held, views = before.users_collection, _held(before), local_views_of(before)
    if moves and homes:
        for collection in now.users_collection:
            collection.objects.unlink(now)
    for collection in homes:
        collection.objects.unlink(before)
        if moves:
            collection.objects.link(now)
    before.user_remap(now)
    _delete(before)
    for layer, is_active in held:
        if layer.objects.get(now.name) == now:
            now.select_set(True, view_layer=layer)
            layer.objects.active = now if is_active else layer.objects.active
    show_in_local_views(now, views)


def _held(obj: Any) -> list[tuple[Any, bool]]:
    """Return pairs of a view layer in which an object is selected or active, and True if it is active."""
    layers = [layer for scene in obj.users_scene for layer in scene.view_layers if layer.objects.get(obj.name) == obj]
    found = ((layer, layer.objects.active == obj) for layer in layers)
    return [(layer, is_active) for layer, is_active in found if is_active or obj.select_get(view_layer=layer)]


def _detach(obj: Any) -> Any | None:
    """Remove the result from ``obj``, and return the duplicate to delete, or None."""
    record = obj.sinew.bake
    others = [other for other in bpy.data.objects if other != obj]
    if record.on_itself and not has_linked_mesh(obj):
        shared = any(other.data == obj.data and other.sinew.bake.on_itself for other in others)
        KINDS[record.kind].remove(obj, record.nodes, shared)
    result = record.result
    record.result = None
    alone = result is not None and not any(other.sinew.bake.result == result for other in others)
    remove_attributes(obj, obj, result if alone else None)
    nodes, record.nodes = record.nodes, None
    if nodes is not None:
        if alone:
            handles_out.remove_modifiers(result, nodes)
        handles_out.drop_group(nodes)
    if result is not None or record.hides_original:  # the user may have deleted and purged the result
        obj.hide_viewport, obj.hide_render = record.hid_viewport, record.hid_render
    record.on_itself = record.hides_original = False
    return result if alone else None


def lost_words(obj: Any) -> str:
    """Return a message about missing data of a baked object's result. The text is empty if the result is complete."""
    record = obj.sinew.bake
    if record.status == "NONE" or not record.frames:
        return ""
    # A deleted object stays in the file while the record refers to it.
    if not record.on_itself and (record.result is None or not record.result.users_scene):
        return "The result was deleted."
    return KINDS[record.kind].lost(obj if record.on_itself else record.result, record)


def _delete(obj: Any) -> None:
    mesh = obj.data
    bpy.data.objects.remove(obj)
    if mesh is not None and mesh.users == 0:
        shape_keys.drop_mesh(mesh)
