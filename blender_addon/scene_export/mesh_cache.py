"""Playback of a bake by a Mesh Cache modifier, from a PC2 file beside the .blend.

The modifier comes after the modifiers whose output is simulated. Blender plays this result without a frame change
handler of Sinew, as it plays a bake stored as shape keys (:mod:`.shape_keys`).

The modifier overwrites the positions from the modifiers before it, so shape keys, armature and shared meshes stay
unchanged. A duplicate is needed only if earlier modifiers change the number of vertices or differ in renders, or if the
mesh is linked from another file.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import bpy

from ..blend_data.stored_paths import stored_path
from ..objects.modifier_stack import CACHE_FILE, own_caches
from ..scene_import.animation_in import stretch_of_time


def cache_path(folder: Path) -> Path:
    """Return the path of the PC2 file in the frame ``folder`` of a bake."""
    return folder / CACHE_FILE


def add_cache(obj: Any, scene: Any, below: int, path: Path, first_frame: int) -> None:
    """Add a Mesh Cache modifier to ``obj`` after its first ``below`` modifiers.

    The modifier plays the PC2 file ``path`` in object coordinates from ``first_frame`` on.
    """
    cache = obj.modifiers.new("Bake", "MESH_CACHE")
    cache.cache_format, cache.filepath = "PC2", kept_path(path)
    cache.forward_axis, cache.up_axis = "POS_Y", "POS_Z"  # no change of axes
    cache.deform_mode, cache.interpolation = "OVERWRITE", "LINEAR"
    cache.play_mode, cache.time_mode = "SCENE", "FRAME"
    cache.frame_start, cache.frame_scale = first_frame, 1.0 / stretch_of_time(scene)
    cache.show_expanded = False
    obj.modifiers.move(obj.modifiers.find(cache.name), below)  # before a modifier pinned to the end


def kept_path(path: Path, home: str | None = None) -> str:
    """Return a path relative to the .blend or to the folder ``home``. A path on another drive stays absolute.

    Relative paths have slashes, since a .blend from Windows may be rendered on Linux.
    """
    try:
        return bpy.path.relpath(str(path), start=home).replace(os.sep, "/")
    except ValueError:
        return str(path)


def remove(obj: Any, _nodes: Any = None, _shared: bool = False) -> None:
    """Remove the Mesh Cache modifiers of bakes from ``obj``. The PC2 file is kept for an undo."""
    for modifier in own_caches(obj):
        obj.modifiers.remove(modifier)


def lost(obj: Any, _record: Any) -> str:
    """Return a message about missing data of a Mesh Cache result on ``obj``. The text is empty if it is complete."""
    caches = own_caches(obj)
    if not caches:
        return "The Mesh Cache modifier was removed."
    path = stored_path(caches[0].filepath, library=obj.library)
    return "" if path is None or os.path.isfile(path) else f"The cache file {path.name} is missing."
