"""Absolute shape keys, one a frame, with one linear ``eval_time`` point a key.

Absolute keys play at the same cost however many there are, and are exact between frames, so that motion blur is right.
A key's own ``frame`` cannot be set and drifts as keys are added: ``eval_time`` is keyed at the value that is read back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np

from ..scene_in.animation_in import key_times
from .linear_keys import key_linearly


def write_keys(
    obj: Any, scene: Any, frames: Sequence[int], positions: Sequence[np.ndarray], rest: np.ndarray | None = None
) -> None:
    """One absolute key a frame of the scene on an object without keys.

    The first key is the one that Edit Mode takes for the mesh itself: where that is none of the frames, give it as
    ``rest`` (n,3).
    """
    if rest is not None:
        obj.shape_key_add(name="Rest", from_mix=False).data.foreach_set("co", np.ascontiguousarray(rest).ravel())
    blocks = []
    for frame, points in zip(frames, positions, strict=True):
        block = obj.shape_key_add(name=f"Frame {frame}", from_mix=False)
        block.interpolation = "KEY_LINEAR"
        block.data.foreach_set("co", np.ascontiguousarray(points, dtype=np.float32).ravel())
        blocks.append(block)
    keys = obj.data.shape_keys
    keys.use_relative = False
    _key_eval_time(keys, key_times(scene, frames), [block.frame for block in blocks])
    obj.active_shape_key_index = 0
    obj.data.update()


def _key_eval_time(keys: Any, times: np.ndarray, values: Sequence[float]) -> None:
    # An action of its own: since 4.4 Blender would otherwise put the curve into the object's action.
    animation = keys.animation_data_create()
    animation.action = bpy.data.actions.new(f"{keys.user.name} Bake")
    keys.eval_time = values[0]
    key_linearly(keys, "eval_time", times, np.array(values)[:, None])


def remove(obj: Any, _nodes: Any, shared: bool) -> None:
    """Take the keys off ``obj``, unless they are another's result, too."""
    if obj.data.shape_keys is not None and not shared:
        drop_action(obj.data.shape_keys)
        obj.shape_key_clear()


def lost(obj: Any, record: Any) -> str:
    """What of the keys on ``obj`` is no longer there; "" when all is."""
    keys = obj.data.shape_keys
    return "" if keys is not None and len(keys.key_blocks) >= record.frames else "The baked shapes were removed."


def drop_mesh(mesh: Any) -> None:
    """Remove a mesh that nothing uses any more, with the animation of its keys."""
    if mesh.users - mesh.use_fake_user == 0:
        if mesh.shape_keys is not None:
            drop_action(mesh.shape_keys)
        bpy.data.meshes.remove(mesh)


def drop_action(owner: Any) -> None:
    """Take the animation off what is about to go, and out of the file."""
    action = owner.animation_data.action if owner.animation_data else None
    owner.animation_data_clear()
    if action is not None and action.users == 0:
        bpy.data.actions.remove(action)
