"""Results as relative shape keys, one per frame.

The keyed value of a shape key is 1 at its frame, 0 at the frames before and after, and linear between. Exporters (glTF,
FBX) write the values, and ignore ``eval_time``. F-curves refer to a shape key by its index: references by name take
nine times as long for 1000 frames, since Blender compares strings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import bpy
import numpy as np

from ..blend_data.list_animation import curves_of
from ..scene_import.animation_in import key_times
from .linear_keys import fill_arc, fill_linear


def write_keys(
    obj: Any,
    scene: Any,
    frames: Sequence[int],
    positions: Sequence[np.ndarray],
    rest: np.ndarray | None = None,
    bulges: Mapping[int, np.ndarray] | None = None,
) -> None:
    """Add one shape key per frame to an object without keys.

    Parameters
    ----------
    positions : positions (n,3) at each frame
    rest : (n,3), the basis, which Edit Mode shows; None uses the positions at the first frame
    bulges : displacements (n,3) to add halfway between ``frames[k]`` and ``frames[k + 1]``, keyed by k
    """
    basis = positions[0] if rest is None else rest
    shapes = [] if rest is None else [("Rest", rest)]
    shapes += [(f"Frame {frame}", points) for frame, points in zip(frames, positions, strict=True)]
    shapes += [(f"Turn {frames[k]}-{frames[k + 1]}", basis + bulge) for k, bulge in (bulges or {}).items()]
    for name, points in shapes:
        block = obj.shape_key_add(name=name, from_mix=False)
        block.data.foreach_set("co", np.ascontiguousarray(points, dtype=np.float32).ravel())
    _key_values(obj.data.shape_keys, key_times(scene, frames), rest is not None, list(bulges or ()))
    obj.active_shape_key_index = 0
    obj.data.update()


def _key_values(keys: Any, times: np.ndarray, has_rest: bool, turning: Sequence[int]) -> None:
    if len(keys.key_blocks) == 1:
        return
    curves = new_curves(keys, f"{keys.user.name} Bake")
    for k in range(0 if has_rest else 1, len(times)):
        near = slice(max(k - 1, 0), k + 2)
        curve = curves.new(f"key_blocks[{k + has_rest}].value")
        fill_linear(curve, times[near], (np.arange(len(times))[near] == k).astype(float))
    for number, k in enumerate(turning, len(times) + has_rest):
        fill_arc(curves.new(f"key_blocks[{number}].value"), float(times[k]), float(times[k + 1]))


def new_curves(keys: Any, name: str) -> Any:
    """Return the empty collection of F-curves of a new action ``name`` of a mesh's shape keys.

    A separate action: since 4.4 Blender would otherwise add the curves to the object's action.
    """
    keys.animation_data_create().action = bpy.data.actions.new(name)
    keys.keyframe_insert("eval_time", frame=0.0)  # creates the collection of curves in every Blender version
    (curves,) = curves_of(keys)
    curves.clear()
    return curves


def remove(obj: Any, _nodes: Any, shared: bool) -> None:
    """Remove all shape keys from ``obj``, unless the mesh is ``shared`` by another object's result."""
    if obj.data.shape_keys is not None and not shared:
        drop_action(obj.data.shape_keys)
        obj.shape_key_clear()


def lost(obj: Any, record: Any) -> str:
    """Return a message about missing shape keys on ``obj``. The text is empty if they are complete."""
    keys = obj.data.shape_keys
    return "" if keys is not None and len(keys.key_blocks) >= record.frames else "The baked shapes were removed."


def drop_mesh(mesh: Any) -> None:
    """Remove a mesh without users, with the animation of its shape keys."""
    if mesh.users - mesh.use_fake_user == 0:
        if mesh.shape_keys is not None:
            drop_action(mesh.shape_keys)
        bpy.data.meshes.remove(mesh)


def drop_action(owner: Any) -> None:
    """Clear the animation of a data-block to be removed, and remove its action if unused."""
    action = owner.animation_data.action if owner.animation_data else None
    owner.animation_data_clear()
    if action is not None and action.users == 0:
        bpy.data.actions.remove(action)
