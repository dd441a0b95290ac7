"""Ownership of frame folders. Each folder belongs to one object of one .blend. Other objects and files only read it.

A duplicated object, an appended object and a file saved under another name first refer to the folder of their original.
Before they write frames, they get a folder of their own. If a .blend was renamed or moved outside of Blender, the
folders at its former path are moved instead.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from functools import lru_cache
from pathlib import Path
from typing import Any

import bpy

from ...core.foundation.errors import refusing
from ...core.jobs.store.frame_store import FrameStore
from ...core.jobs.store.store_lock import locked
from ..blend_data.stored_paths import check_straight, is_straight
from ..jobs.process import LOG_NAME
from ..objects.modifier_stack import CACHE_FILE, own_caches
from ..scene_export.mesh_cache import cache_path, kept_path
from .frame_folders import (
    CACHE,
    COMPARE,
    LIVE,
    default_folder,
    has_home,
    home_folder,
    readable_name,
    recorded_folder,
    writable,
)


def is_own(obj: Any) -> bool:
    """Return True if ``obj`` may write to the frame folder in its bake record.

    The folder must be beside the open .blend, not behind a link, and not recorded for another object. Without a
    recorded folder, the result is True.
    """
    folder = recorded_folder(obj)
    return folder is None or (_is_home(folder) and not _is_shared(obj, folder))


def may_delete(obj: Any, folder: Path) -> bool:
    """Return True if no object other than ``obj`` and no other .blend uses ``folder``.

    The folder must be beside the open .blend, or beside the path that the .blend had before a move outside of Blender.
    """
    return (_is_home(folder) or _is_left_behind(folder)) and not _is_shared(obj, folder)


def folder_to_write(obj: Any) -> Path:
    """Return a writable folder for the next bake of ``obj``. Raises StoreError if the folder cannot be written.

    This is the folder in the bake record if ``obj`` owns that folder (:func:`is_own`), else the default folder.
    """
    make_own(obj, copies=False)
    recorded = recorded_folder(obj)
    return writable(recorded if recorded is not None and is_own(obj) else default_folder(obj))


def _is_shared(obj: Any, folder: Path) -> bool:
    return any(recorded_folder(other) == folder for other in bpy.data.objects if other != obj)


def _is_another_files(folder: Path) -> bool:
    """Return True if a frame folder belongs to a .blend other than the open one."""
    home = Path(os.path.normpath(folder)).parent
    parent = home.parent.parent
    blend = parent / f"{home.name}.blend"
    if os.path.isfile(blend):
        return not _is_open(blend)
    return any(_has_object_of(path, folder.name) for path in parent.glob("*.blend") if not _is_open(path))


def _is_open(blend: Path) -> bool:
    try:
        return bool(bpy.data.filepath) and os.path.samefile(blend, bpy.data.filepath)
    except OSError:
        return False


def _has_object_of(blend: Path, folder: str) -> bool:
    try:
        names = _folder_names(str(blend), blend.stat().st_mtime_ns)
    except OSError:  # such as a broken link
        return True
    return names is None or any(folder.startswith(f"{name}-") for name in names)


@lru_cache(maxsize=1024)
def _folder_names(blend: str, _changed: int) -> frozenset[str] | None:
    """Return the readable parts of all objects' folder names in a .blend, or None."""
    try:
        with bpy.data.libraries.load(blend) as (there, _):
            return frozenset(readable_name(name) for name in there.objects)
    except OSError:
        return None


def _is_home(folder: Path) -> bool:
    """Return True if a folder is in the cache folder of the open .blend and not behind a link."""
    return has_home() and folder.parent == Path(os.path.normpath(home_folder())) and is_straight(folder)


def _is_left_behind(folder: Path) -> bool:
    """Return True if ``folder`` is a frame store left behind by a move of the open .blend."""
    if not has_home() or folder.parent.parent.name != CACHE or not is_straight(folder):
        return False
    store = FrameStore(folder)
    return store.exists() and store.is_known() and not _is_another_files(folder)


def make_own(obj: Any, copies: bool = True) -> bool:
    """Give ``obj`` a frame folder of its own. Returns False if ``obj`` had such a folder already.

    Recorded frames at a former path of the .blend are moved to the new folder. With ``copies``, frames of another
    object or file are copied. Raises StoreError if moving or copying fails.
    """
    if is_own(obj):
        return False
    recorded, folder = recorded_folder(obj), default_folder(obj)
    moves = may_delete(obj, recorded)
    if not moves and not copies:
        return True
    check_straight(folder)
    message = f"The frames in {recorded} cannot be {'moved' if moves else 'copied'} to {folder}"
    with refusing(
        message, "Close programs that use them, free disk space, or save the .blend in a folder that you can write to."
    ):
        (_take_over if moves else _copy)(recorded, folder)
    (point_to if moves else note_folder)(obj, folder)
    return True


def _take_over(recorded: Path, folder: Path) -> None:
    """Move frames to ``folder``, with the folders of live mode and comparison beside them."""
    with locked(recorded):
        pass  # StoreError if another process writes there
    folder.parent.mkdir(parents=True, exist_ok=True)
    for ending in ("", LIVE, COMPARE):
        source, target = (path.with_name(f"{path.name}{ending}") for path in (recorded, folder))
        if source.is_dir() and is_straight(source) and is_straight(target):
            _move(source, target)
    delete_empty(recorded)


def _move(source: Path, target: Path) -> None:
    """Move a folder, replacing an existing ``target``."""
    try:
        if target.exists():
            shutil.rmtree(target)
        source.rename(target)
    except OSError as error:
        if error.errno != errno.EXDEV:  # another file system
            raise
        _copy(source, target)
        shutil.rmtree(source)


def _copy(source: Path, target: Path) -> None:
    """Copy a folder, completely or not at all, replacing an existing ``target``.

    Links are not copied: in an untrusted folder they may lead to private files.
    """
    part = target.with_name(f"{target.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    try:
        shutil.copytree(source, part, ignore=_links)
        if target.exists():
            shutil.rmtree(target)
        part.rename(target)
    except OSError:
        shutil.rmtree(part, ignore_errors=True)
        raise


def _links(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if os.path.islink(os.path.join(folder, name))]


def delete_empty(folder: Path) -> None:
    """Delete a folder ``sinew_cache/NAME/OBJECT`` and the two folders above it, each only if it is empty."""
    home = folder.parent
    if home.parent.name != CACHE:
        return
    for directory in (folder, home, home.parent):
        with contextlib.suppress(OSError):  # not empty, missing or not permitted
            directory.rmdir()


def delete_folder(folder: Path) -> bool:
    """Delete a frame store with its log and Mesh Cache file, then empty parent folders.

    Returns False, and deletes nothing, if the folder is behind a link or is not a bake. Raises StoreError if deleting
    fails.
    """
    if not is_straight(folder) or not FrameStore(folder).delete(beside=(LOG_NAME, CACHE_FILE)):
        return False
    delete_empty(folder)
    return True


def bring(obj: Any) -> None:
    """Move or copy the recorded frames of ``obj`` to the object's own folder. Raises StoreError if this fails."""
    make_own(obj)
    point_to(obj, recorded_folder(obj))


def note_folder(obj: Any, folder: Path, home: str | None = None) -> None:
    """Store the frame folder of an object in its bake record, as a path relative to ``home``.

    With None, the path is relative to the folder of the open .blend.
    """
    record = obj.sinew.bake
    record.home = home or (bpy.path.abspath("//") if has_home() else "")
    record.folder, record.is_deleted = kept_path(folder, home), False


def point_to(obj: Any, folder: Path) -> None:
    """Store the frame folder of an object in the bake record.

    Mesh Cache modifiers that play the bake get the new path, too.
    """
    note_folder(obj, folder)
    record = obj.sinew.bake
    carrier = obj if record.on_itself else record.result
    shared = any(other.sinew.bake.result == carrier for other in bpy.data.objects if other != obj)
    for modifier in own_caches(carrier) if record.kind == "CACHE" and carrier is not None and not shared else ():
        modifier.filepath = kept_path(cache_path(folder))
