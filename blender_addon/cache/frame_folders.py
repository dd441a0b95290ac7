"""Paths of the folders with an object's frames: the default folder beside the .blend, or the one in the bake record."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path
from typing import Any

import bpy

from ...core.foundation.errors import StoreError, refusing
from ...core.foundation.files.array_file import open_own
from ..blend_data.stored_paths import check_straight, is_utf8, readable, stored_path
from ..blend_data.text_decoding import text_of
from ..objects import linked

CACHE = "sinew_cache"
"""Folder beside a .blend with the frames of all its objects."""
LIVE, COMPARE = "-live", "-compare"
"""Suffixes that turn the name of an object's frame folder into the names of two folders beside it: the folder of live
mode, and the folder of the second bake of a comparison.
"""
LONGEST = 200
"""Maximum bytes of an object's name in its folder name. An object's name may have 255 bytes since Blender 5.0, and so
may a folder's name. This maximum leaves room for the suffixes that are appended.
"""


def has_home() -> bool:
    """Return True if the open .blend can have a frame folder beside it: it is saved, and its path is valid UTF-8."""
    return bool(bpy.data.filepath) and is_utf8(bpy.data.filepath)


def home_folder() -> Path:
    """Return the folder ``sinew_cache/NAME`` beside the open .blend, which contains the frame folders of all objects.
    Raise StoreError if the .blend is not saved or its path is not UTF-8.
    """
    blend = bpy.data.filepath
    if not blend:
        raise StoreError("The .blend is not saved yet.", "Save it first: the baked frames are kept beside it.")
    if not is_utf8(blend):
        raise StoreError(f"The path {readable(blend)} is not UTF-8.", "Rename the file or folder shown with “?”.")
    # A backup NAME.blend1 does not own the frames of NAME.blend.
    name = Path(blend).stem if blend.lower().endswith(".blend") else Path(blend).name
    return Path(bpy.path.abspath("//")) / CACHE / name


def default_folder(obj: Any) -> Path:
    """Return the frame folder named after the object, in :func:`home_folder`. If another object uses it, a number is
    appended to the name.
    """
    home, name = home_folder(), folder_name(obj.name, text_of(obj.sinew, "identity"))
    folder, k = home / name, 2
    # A renamed object keeps its folder, so a new object of the old name gets another.
    taken = [recorded_folder(other) for other in bpy.data.objects if other != obj]
    while folder in taken:
        folder, k = home / f"{name}-{k}", k + 1
    return folder


def folder_name(name: str, identity: str = "") -> str:
    """Return the name of the frame folder of an object called ``name``. The random text ``identity`` distinguishes the
    folder from that of a deleted object of the same name.
    """
    return f"{readable_name(name)}-{hashlib.sha256((name + identity).encode()).hexdigest()[:8]}"


def readable_name(name: str) -> str:
    """Return the readable part of a frame folder's name: the object's name, shortened and without
    special characters.
    """
    short = re.sub(r"[^\w-]+", "_", name).strip("_") or "object"
    return short.encode()[:LONGEST].decode(errors="ignore")


def live_path(obj: Any) -> Path:
    """Return the object's folder for live mode: beside its frame folder or, if the .blend is not saved, a temporary
    folder.
    """
    if not has_home():
        return unsaved_live_path(obj)
    folder = default_folder(obj)
    return folder.with_name(f"{folder.name}{LIVE}")


def unsaved_live_path(obj: Any) -> Path:
    """Return the object's temporary folder for live mode in an unsaved .blend. Blender deletes it at exit."""
    return Path(bpy.app.tempdir) / CACHE / f"{folder_name(obj.name)}{LIVE}"


def live_folder(obj: Any) -> Path:
    """Create the object's folder for live mode (:func:`live_path`) and return it. Raise StoreError if the folder cannot
    be written.
    """
    return writable(live_path(obj))


def compare_path(folder: Path) -> Path:
    """Return the folder of the ghost (second bake of a comparison) that belongs to the bake in ``folder``."""
    return folder.with_name(f"{folder.name}{COMPARE}")


def recorded_folder(obj: Any, home: str = "") -> Path | None:
    """Return the absolute path of the frame folder that the object's bake record names. Return None for an
    object without a bake, or if :func:`stored_path` refuses the path.

    A recorded path that begins with // is relative to a folder: for a linked object, the folder of the library; for any
    other object, the folder ``home``. If ``home`` is "", the recorded path is relative to the folder that the bake
    record stores in its property ``home``.
    """
    record, library = obj.sinew.bake, linked.library_of(obj)
    folder = text_of(record, "folder")
    start = home or (text_of(record, "home") if library is None else "")
    return stored_path(folder, start, library) if folder else None


def writable(folder: Path) -> Path:
    """Create a folder ``sinew_cache/NAME/OBJECT`` and return it. Raise StoreError if the folder cannot be written
    safely.
    """
    check_straight(folder)
    remedy = "Save the .blend in a folder that you can write to, and check that the disk is not full."
    with refusing(f"The folder {folder} cannot be written", remedy):
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".writable-{os.getpid()}"  # another Blender may test the same folder
        open_own(probe, "wb").close()
        probe.unlink()
    return folder


def written(path: Path) -> int:
    """Return the modification time of a file or folder, ns; -1 if it does not exist."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return -1
