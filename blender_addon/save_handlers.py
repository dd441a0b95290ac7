"""Saving under another name: records of bakes go on naming the same folders, as Blender's own relative paths do.

Both files then play, and each copies the frames when it is to write some (``bridge/cache_owner.py``).
"""

from __future__ import annotations

import os
from typing import Any

import bpy

from .bridge.cache_owner import kept_path
from .bridge.job_in import recorded_folder

_before: list[tuple[int, str]] = []


@bpy.app.handlers.persistent
def before_save(path: Any = "", *_: Any) -> None:
    """A handler of ``save_pre``: paths from the .blend are made ones from where it will be."""
    _before.clear()
    home = os.path.dirname(path) if isinstance(path, str) else ""
    if not home or not bpy.data.filepath or os.path.realpath(home) == os.path.realpath(bpy.path.abspath("//")):
        return
    for obj in bpy.data.objects:
        record = obj.sinew.bake
        if obj.library is None and record.folder.startswith("//"):
            _before.append((obj.session_uid, record.folder))
            record.folder = kept_path(recorded_folder(obj), home)


@bpy.app.handlers.persistent
def after_save(path: Any = "", *_: Any) -> None:
    """A handler of ``save_post``: after Save Copy the open file is still the one before."""
    if _before and isinstance(path, str) and os.path.realpath(path) != os.path.realpath(bpy.data.filepath):
        put_back()
    _before.clear()


@bpy.app.handlers.persistent
def put_back(*_: Any) -> None:
    """A handler of ``save_post_fail``."""
    folders = dict(_before)
    for obj in bpy.data.objects:
        if obj.session_uid in folders:
            obj.sinew.bake.folder = folders[obj.session_uid]
    _before.clear()


def _lists() -> list[tuple[Any, Any]]:
    handlers = bpy.app.handlers
    return [(handlers.save_pre, before_save), (handlers.save_post, after_save), (handlers.save_post_fail, put_back)]


def register() -> None:
    """Called with the extension's registration."""
    for handlers, function in _lists():
        handlers.append(function)


def unregister() -> None:
    """The reverse."""
    for handlers, function in _lists():
        handlers.remove(function)
