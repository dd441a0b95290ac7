"""Handlers that keep the folders in bake records valid when a .blend is saved, loaded or appended.

A bake record stores its folder relative to the .blend. When the .blend is saved elsewhere, the record is rewritten
relative to the new place, as Blender rewrites its own relative paths. The frames are not moved. Appended objects still
refer to the folder beside their source file. A body can play the frames of another .blend; before its next bake, the
frames are copied to its own folder (``cache/cache_owner.py``).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from typing import Any

import bpy

from ..blend_data.stored_paths import is_utf8, note_append
from ..blend_data.text_decoding import mend_texts, text_of
from ..objects.linked import library_of
from .cache_owner import note_folder, point_to
from .frame_folders import default_folder, has_home, recorded_folder

_before: list[tuple[int, str, str]] = []


def _for_each(note: Callable[[Any], None], objects: Iterable[Any]) -> None:
    """Call ``note`` for each object; reset the recorded folder of an object whose damaged record makes this fail."""
    for obj in objects:
        try:
            note(obj)
        except (OSError, ValueError, TypeError) as error:
            obj.sinew.bake.property_unset("folder")
            obj.sinew.bake.property_unset("home")
            print(f"sinew: the folder of the frames of “{obj.name}” is unknown: {error!r}", file=sys.stderr)


def _is_local(obj: Any) -> bool:
    """Return True if the object is not linked and its recorded folder is relative (//)."""
    return text_of(obj.sinew.bake, "folder").startswith("//") and library_of(obj) is None


@bpy.app.handlers.persistent
def before_save(path: Any = "", *_: Any) -> None:
    """Rewrite the folders in bake records relative to the new ``path`` of the .blend (handler of ``save_pre``)."""
    _before.clear()
    home = os.path.dirname(path) if isinstance(path, str) else ""

    def note(obj: Any) -> None:
        folder = recorded_folder(obj) if _is_local(obj) else None
        record = obj.sinew.bake
        if folder is None or os.path.realpath(home) == os.path.realpath(record.home or bpy.path.abspath("//")):
            return
        _before.append((obj.session_uid, record.folder, record.home))
        note_folder(obj, folder, home)

    _for_each(note, bpy.data.objects if home and is_utf8(home) else ())


@bpy.app.handlers.persistent
def after_save(path: Any = "", *_: Any) -> None:
    """Restore the bake records after Save Copy (handler of ``save_post``). The open .blend keeps its own path."""
    if _before and isinstance(path, str) and os.path.realpath(path) != os.path.realpath(bpy.data.filepath):
        put_back()
    _before.clear()


@bpy.app.handlers.persistent
def put_back(*_: Any) -> None:
    """Restore the bake records that :func:`before_save` has changed (handler of ``save_post_fail``)."""
    records = {uid: (folder, home) for uid, folder, home in _before}
    for obj in bpy.data.objects:
        if obj.session_uid in records:
            obj.sinew.bake.folder, obj.sinew.bake.home = records[obj.session_uid]
    _before.clear()


@bpy.app.handlers.persistent
def after_load(*_: Any) -> None:
    """Point the bake records to the frames beside a loaded file (handler of ``load_post``).

    The file may have been moved. Without frames beside the file, the records point to the frames at its former path.
    """

    def note(obj: Any) -> None:
        if obj.sinew.enabled:
            mend_texts(obj.sinew)
        if not _is_local(obj) or not has_home():
            return
        before = recorded_folder(obj)
        # Not earlier: the ``bpy`` module of 5.2 forbids it while an extension is installed.
        obj.sinew.bake.home = bpy.path.abspath("//")
        now = recorded_folder(obj)
        if now is not None and os.path.isdir(now):
            return
        if before is not None and os.path.isdir(before):
            point_to(obj, before)
        elif os.path.isdir(default_folder(obj)):  # moved there; the record was not saved
            point_to(obj, default_folder(obj))

    _for_each(note, bpy.data.objects)


@bpy.app.handlers.persistent
def after_import(imported: Any, *_: Any) -> None:
    """Point the bake records of appended objects to the frames beside their source file (handler of
    ``blend_import_post``).
    """
    libraries = {item.id: item.source_library for item in imported.import_items if item.source_library is not None}

    def note(obj: Any) -> None:
        home = os.path.dirname(bpy.path.abspath(libraries[obj].filepath))
        note_append(home)
        if not _is_local(obj):
            return
        folder = recorded_folder(obj, home)
        if not obj.sinew.bake.home or folder is not None and os.path.isdir(folder):
            obj.sinew.bake.home = home

    _for_each(note, [item for item in libraries if isinstance(item, bpy.types.Object)])


def register() -> None:
    """Update the bake records of an open file when the add-on is enabled."""
    if hasattr(bpy.data, "objects"):  # enabled in an open file; at Blender's start, files are loaded later
        after_load()


HANDLERS = (
    ("save_pre", before_save),
    ("save_post", after_save),
    ("save_post_fail", put_back),
    ("load_post", after_load),
    ("blend_import_post", after_import),
)
