"""Frames -> a PC2 file beside the .blend and a Mesh Cache modifier that plays it, at the end of what is simulated.

The modifier overwrites whatever comes before it, so the artist's shape keys, armature and shared meshes stay as they
are and no duplicate is needed, unless a modifier before it makes vertices: those may be others in a render.
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
    """The PC2 file of a bake whose frames are in ``folder``."""
    return folder / CACHE_FILE


def add_cache(obj: Any, scene: Any, below: int, path: Path, first_frame: int) -> None:
    """Let ``obj`` follow a PC2 file from a frame of the scene on, in its own coordinates, after its first ``below``
    modifiers.
    """
    cache = obj.modifiers.new("Bake", "MESH_CACHE")
    cache.cache_format, cache.filepath = "PC2", kept_path(path)
    cache.forward_axis, cache.up_axis = "POS_Y", "POS_Z"  # axes as they are
    cache.deform_mode, cache.interpolation = "OVERWRITE", "LINEAR"
    cache.play_mode, cache.time_mode = "SCENE", "FRAME"
    cache.frame_start, cache.frame_scale = first_frame, 1.0 / stretch_of_time(scene)
    cache.show_expanded = False
    obj.modifiers.move(obj.modifiers.find(cache.name), below)  # one that is pinned to the end comes after it


def kept_path(path: Path, home: str | None = None) -> str:
    """A path as the .blend keeps it: from there (or from the folder ``home``), or as it is on another drive. Its parts
    are divided as every system understands: what was baked on Windows may be rendered on Linux.
    """
    try:
        return bpy.path.relpath(str(path), start=home).replace(os.sep, "/")
    except ValueError:
        return str(path)


def remove(obj: Any, _nodes: Any = None, _shared: bool = False) -> None:
    """Take our Mesh Cache modifiers off; the file stays for an undo."""
    for modifier in own_caches(obj):
        obj.modifiers.remove(modifier)


def lost(obj: Any, _record: Any) -> str:
    """Name what is missing of a Mesh Cache result; "" if nothing is."""
    caches = own_caches(obj)
    if not caches:
        return "The Mesh Cache modifier was removed."
    path = stored_path(caches[0].filepath, library=obj.library)
    return "" if path is None or os.path.isfile(path) else f"The cache file {path.name} is gone."
