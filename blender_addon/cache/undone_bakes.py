"""Frames of deleted and replaced bakes. They are kept until the .blend is saved, so that an undo can restore them.

Delete Bake only sets ``is_deleted`` in the bake record. Before a later bake replaces an earlier bake, the folder of the
earlier bake is renamed. An undo of the later bake restores the earlier bake record. The checksum in this record
identifies the renamed folder, and the two folders exchange names, so that the recorded path leads to the earlier
frames.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy

from ...core.foundation.errors import SinewError, refusing
from ...core.jobs.store.frame_store import FrameStore
from ...core.jobs.store.store_lock import locked
from ..blend_data.stored_paths import is_straight
from .cache_owner import delete_folder, may_delete
from .frame_folders import compare_path, has_home, home_folder, recorded_folder

UNDO = "-undo-"
_NAME = re.compile(rf"(.+-[0-9a-f]{{8}}(?:-\d+)?){UNDO}\d+")
"""Folder name of a replaced bake: the original folder name, then ``UNDO`` and a number."""
ROOM = 100e6
"""Free space of a disk, bytes, below which Delete Bake deletes frames at once."""
_kept: dict[Path, list[Path]] = {}
"""Present folders of the bakes replaced in this Blender session, by their original folder."""
_deleted: list[tuple[int, Path, str, str]] = []
"""Bakes to delete after the current save. An entry is the body's ``session_uid``, the absolute path of the frames, and
``folder`` and ``home`` of the bake record.
"""


def has_frames(folder: Path) -> bool:
    """Return True if ``folder`` is a frame store with frames, not behind a link."""
    store = FrameStore(folder)
    return is_straight(folder) and store.exists() and store.is_known() and bool(store.frames())


def can_wait(folder: Path) -> bool:
    """Return True if the disk has room to keep a deleted bake until the .blend is saved.

    Raises StoreError if another process uses the folder, or if the folder cannot be written.
    """
    with locked(folder):
        return shutil.disk_usage(folder).free > ROOM


def free_path(folder: Path) -> Path:
    """Return an unused path beside ``folder``, as a new name of ``folder``."""
    k = 1
    while (path := folder.with_name(f"{folder.name}{UNDO}{k}")).exists():
        k += 1
    return path


def keep(folder: Path) -> Path:
    """Rename the folder of a bake that is about to be replaced, and return the new path.

    Folders kept by an earlier Blender session for the same body are deleted. Raises StoreError if renaming fails.
    """
    for left in _left_by(folder):
        if left not in _kept.get(folder, ()):
            _delete(left)
    path = free_path(folder)
    _rename(folder, path)
    _kept.setdefault(folder, []).append(path)
    return path


def deletable() -> list[FrameStore]:
    """Return the stores of the open .blend's replaced bakes, except those that an object displays."""
    shown = {obj.sinew.bake.shows for obj in bpy.data.objects}
    return [store for store in map(FrameStore, _left_by(None)) if store.key() not in shown]


def delete_kept() -> None:
    """Delete the frames of replaced bakes, except those that an object displays."""
    for store in deletable():
        _delete(store.folder)
        for others in _kept.values():
            with contextlib.suppress(ValueError):
                others.remove(store.folder)


def _left_by(folder: Path | None) -> Iterator[Path]:
    """Yield the renamed folders of bakes replaced in ``folder``; with None, those of all bodies."""
    home = folder.parent if folder is not None else home_folder() if has_home() else None
    if home is None or not os.path.isdir(home):
        return
    for path in sorted(home.iterdir()):
        found = _NAME.fullmatch(path.name)
        if found and (folder is None or found[1] == folder.name) and is_straight(path):
            yield path


def _delete(folder: Path) -> None:
    """Delete a frame folder; print an error instead of raising it."""
    try:
        delete_folder(folder)
    except SinewError as error:
        print(f"sinew: {error}", file=sys.stderr)


def _rename(source: Path, target: Path) -> None:
    with locked(source):
        pass  # StoreError if another Blender writes to it
    with refusing(f"The frames in {source} cannot be moved to {target}", "Close programs that use them."):
        source.rename(target)


@bpy.app.handlers.persistent
def after_undo(*_: Any) -> None:
    """Restore the frames of bakes that the scene displays again (handler of ``undo_post`` and ``redo_post``)."""
    restore_shown()


def restore_shown() -> None:
    """Restore the frames that the scene displays, from the folders kept for an undo."""
    for obj in bpy.data.objects:
        folder = recorded_folder(obj) if obj.sinew.bake.shows else None
        for path in _kept.get(folder, ()):
            if FrameStore(path).key() == obj.sinew.bake.shows != FrameStore(folder).key():
                with contextlib.suppress(SinewError):  # a bake writes there; the panel reports the difference
                    _exchange(folder, path)
                    obj.update_tag()
                break


def _exchange(folder: Path, path: Path) -> None:
    """Exchange the names of two frame folders, or rename ``path`` if ``folder`` does not exist."""
    between = free_path(folder)
    has_other = folder.exists()
    if has_other:
        _rename(folder, between)
    path.rename(folder)
    if has_other:
        between.rename(path)
    else:
        _kept[folder].remove(path)


@bpy.app.handlers.persistent
def before_save(*_: Any) -> None:
    """Remove deleted bakes from the bake records (handler of ``save_pre``)."""
    _deleted.clear()
    for obj in bpy.data.objects:
        record = obj.sinew.bake
        if record.is_deleted:
            if (folder := recorded_folder(obj)) is not None:
                _deleted.append((obj.session_uid, folder, record.folder, record.home))
            record.folder, record.home, record.is_deleted = "", "", False


@bpy.app.handlers.persistent
def after_save(path: Any = "", *_: Any) -> None:
    """Delete the frames of deleted and replaced bakes (handler of ``save_post``).

    After Save Copy, all frames are kept, and the bake records are restored.
    """
    if not isinstance(path, str) or os.path.realpath(path) != os.path.realpath(bpy.data.filepath):
        put_back()
        return
    objects = {obj.session_uid: obj for obj in bpy.data.objects}
    for uid, folder, _folder, _home in _deleted:
        if uid in objects and may_delete(objects[uid], folder):
            _delete(folder)
            _delete(compare_path(folder))
    _deleted.clear()
    delete_kept()


@bpy.app.handlers.persistent
def put_back(*_: Any) -> None:
    """Restore the bake records that :func:`before_save` has changed (handler of ``save_post_fail``)."""
    records = {uid: (folder, home) for uid, _path, folder, home in _deleted}
    for obj in bpy.data.objects:
        if obj.session_uid in records:
            obj.sinew.bake.folder, obj.sinew.bake.home = records[obj.session_uid]
            obj.sinew.bake.is_deleted = True
    _deleted.clear()


@bpy.app.handlers.persistent
def forget(*_: Any) -> None:
    """Forget the frames kept for undo when another file is loaded (handler of ``load_post``)."""
    _kept.clear()
    _deleted.clear()


HANDLERS = (
    ("save_pre", before_save),
    ("save_post", after_save),
    ("save_post_fail", put_back),
    ("undo_post", after_undo),
    ("redo_post", after_undo),
    ("load_post", forget),
)
