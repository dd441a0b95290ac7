"""Results of bone bodies: once all bodies of an armature in a group are baked, their motion becomes an action."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.jobs.checks.rotations import nearest_rotation
from ...core.jobs.store.frame_store import FrameStore
from ..cache import frame_folders
from ..objects.bones import bodies_of
from ..objects.contact_groups import group_of
from ..scene_export.bone_action import write_action
from ..scene_export.frames_out import remove_result
from ..scene_import.mesh_in import unit_scale


def take_off(obj: Any) -> None:
    """Remove the earlier result of a bone body. Its new result will be the action of its armature."""
    remove_result(obj)
    obj.sinew.bake.kind, obj.sinew.bake.on_itself = "BONES", True


def put_bones(obj: Any, context: Any) -> None:
    """Write the action of the armature of a bone body, unless another body of the armature is still to be applied.

    Raises StoreError if frames are missing, or if the armature is linked.
    """
    together = group_of(obj, context)
    bodies = [each for (each,) in bodies_of(obj.parent).values() if each in together]
    if any(each.sinew.bake.status == "NONE" for each in bodies):
        return
    stores = {each: FrameStore.open(frame_folders.recorded_folder(each)) for each in bodies}
    baked = set.intersection(*(set(store.frames()) for store in stores.values()))
    job = stores[obj].job()
    frames = sorted(frame for frame in baked if frame >= job.first_shown)
    if frames:
        poses = {each.parent_bone: bone_poses(each, store, frames, context) for each, store in stores.items()}
        write_action(obj.parent, context, job.frame_start, frames, poses)


def bone_poses(obj: Any, store: FrameStore, frames: list[int], context: Any) -> np.ndarray:
    """Return the matrix of the bone of a baked body in Blender's world space at each of the ``frames``, (frames,4,4).

    The body follows its bone rigidly, so the bone's matrix at the bake's first frame follows from the body's matrix.
    """
    job, X = store.job(), store.job().body.surface.positions
    depsgraph = context.evaluated_depsgraph_get()
    armature, child = obj.parent.evaluated_get(depsgraph), obj.evaluated_get(depsgraph)
    bone = np.array(armature.matrix_world @ armature.pose.bones[obj.parent_bone].matrix)
    metres = np.diag([unit_scale(context.scene)] * 3 + [1.0])
    first = np.linalg.inv(metres) @ job.frame_matrices[0] @ np.linalg.inv(child.matrix_world) @ bone
    found = []
    for frame in frames:
        motion, x = np.eye(4), store.read(frame)
        motion[:3, :3] = nearest_rotation(X - X.mean(axis=0), x - x.mean(axis=0))
        motion[:3, 3] = x.mean(axis=0) - motion[:3, :3] @ X.mean(axis=0)
        found.append(np.linalg.inv(metres) @ motion @ metres @ first)
    return np.array(found)
