"""Where a record of a bake is told from: frames stay where they are, whatever becomes of the file that names them.

As Blender's own relative paths are, a record is made anew when the .blend is saved elsewhere, and what is appended goes
on naming the folder beside the file that it comes from. All play and read, and each copies the frames when it is to
write some (``bridge/cache_owner.py``).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy

from .bridge.cache_owner import note_folder, point_to
from .bridge.job_in import default_folder, recorded_folder
from .linked import library_of

_before: list[tuple[int, str, str]] = []


def _local() -> Iterator[Any]:
    """The objects of this file whose record is told from somewhere."""
    return (obj for obj in bpy.data.objects if obj.sinew.bake.folder.startswith("//") and library_of(obj) is None)


@bpy.app.handlers.persistent
def before_save(path: Any = "", *_: Any) -> None:
    """A handler of ``save_pre``: records are told from where the .blend will be."""
    _before.clear()
    home = os.path.dirname(path) if isinstance(path, str) else ""
    for obj in _local() if home else ():
        record = obj.sinew.bake
        now = record.home or bpy.path.abspath("//")
        if os.path.realpath(home) != os.path.realpath(now):
            _before.append((obj.session_uid, record.folder, record.home))
            note_folder(obj, recorded_folder(obj), home)


@bpy.app.handlers.persistent
def after_save(path: Any = "", *_: Any) -> None:
    """A handler of ``save_post``: after Save Copy the open file is still the one before."""
    if _before and isinstance(path, str) and os.path.realpath(path) != os.path.realpath(bpy.data.filepath):
        put_back()
    _before.clear()


@bpy.app.handlers.persistent
def put_back(*_: Any) -> None:
    """A handler of ``save_post_fail``."""
    records = {uid: (folder, home) for uid, folder, home in _before}
    for obj in bpy.data.objects:
        if obj.session_uid in records:
            obj.sinew.bake.folder, obj.sinew.bake.home = records[obj.session_uid]
    _before.clear()


@bpy.app.handlers.persistent
def after_load(*_: Any) -> None:
    """A handler of ``load_post``: what the file names is beside it, wherever it has come to; or, without its frames, it
    names, and plays, those where it was before.
    """
    here = bpy.path.abspath("//") if bpy.data.filepath else ""
    for obj in _local() if here else ():
        record = obj.sinew.bake
        before = recorded_folder(obj)
        record.home = here
        if recorded_folder(obj).is_dir():
            continue
        if before.is_dir():
            point_to(obj, before)
        elif default_folder(obj).is_dir():  # moved there after the file was renamed, which was not saved then
            point_to(obj, default_folder(obj))


@bpy.app.handlers.persistent
def after_import(imported: Any, *_: Any) -> None:
    """A handler of ``blend_import_post``: the file that something comes from may have been moved since it was saved."""
    for item in imported.import_items:
        obj, library = item.id, item.source_library
        if library is None or not isinstance(obj, bpy.types.Object) or library_of(obj) is not None:
            continue
        record, home = obj.sinew.bake, os.path.dirname(bpy.path.abspath(library.filepath))
        if record.folder.startswith("//") and (not record.home or Path(home, record.folder[2:]).is_dir()):
            record.home = home


def _lists() -> list[tuple[Any, Any]]:
    handlers = bpy.app.handlers
    pairs = [
        (handlers.save_pre, before_save),
        (handlers.save_post, after_save),
        (handlers.save_post_fail, put_back),
        (handlers.load_post, after_load),
    ]
    imports = getattr(handlers, "blend_import_post", None)  # since 4.3
    return pairs if imports is None else [*pairs, (imports, after_import)]


def register() -> None:
    """Called with the extension's registration."""
    for handlers, function in _lists():
        handlers.append(function)
    if hasattr(bpy.data, "objects"):  # switched on in an open file; at Blender's start one is loaded afterwards
        after_load()


def unregister() -> None:
    """The reverse."""
    for handlers, function in _lists():
        handlers.remove(function)
