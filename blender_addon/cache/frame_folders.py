"""Folders of an object's frames: beside its .blend, or as recorded."""

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
"""Suffixes of the folders of live mode and of the second bake of a comparison, beside the folder of the frames."""
LONGEST = 200
"""Maximum bytes of an object's name in its folder name: since 5.0 names may have 255, the limit of folder names."""


def has_home() -> bool:
    """Return True if the open .blend can have a folder for frames: it is saved, and its path is valid UTF-8."""
    return bool(bpy.data.filepath) and is_utf8(bpy.data.filepath)


def home_folder() -> Path:
    """Return the folder of the frames of all objects, beside the .blend; StoreError if it has none."""
    blend = bpy.data.filepath
    if not blend:
        raise StoreError("The .blend is not saved yet.", "Save it first: the baked frames are kept beside it.")
    if not is_utf8(blend):
        raise StoreError(f"The path {readable(blend)} is not UTF-8.", "Rename that folder, or the .blend.")
    # A backup NAME.blend1 does not own the frames of NAME.blend.
    name = Path(blend).stem if blend.lower().endswith(".blend") else Path(blend).name
    return Path(bpy.path.abspath("//")) / CACHE / name


def default_folder(obj: Any) -> Path:
    """Return the folder in :func:`home_folder` that is named after the object, or a free variant of that name."""
    home, name = home_folder(), folder_name(obj.name, text_of(obj.sinew, "identity"))
    folder, k = home / name, 2
    # A renamed object keeps its folder, so a new object of the old name gets another.
    taken = [recorded_folder(other) for other in bpy.data.objects if other != obj]
    while folder in taken:
        folder, k = home / f"{name}-{k}", k + 1
    return folder


def folder_name(name: str, identity: str = "") -> str:
    """Return the folder name for an object's frames. ``identity`` distinguishes it from deleted objects of its name."""
    return f"{readable_name(name)}-{hashlib.sha256((name + identity).encode()).hexdigest()[:8]}"


def readable_name(name: str) -> str:
    """Return the part of the folder name that derives from the object's name."""
    short = re.sub(r"[^\w-]+", "_", name).strip("_") or "object"
    return short.encode()[:LONGEST].decode(errors="ignore")


def live_path(obj: Any) -> Path:
    """Return the folder of live mode: beside that of the object's frames, or temporary for an unsaved .blend."""
    if not has_home():
        return unsaved_live_path(obj)
    folder = default_folder(obj)
    return folder.with_name(f"{folder.name}{LIVE}")


def unsaved_live_path(obj: Any) -> Path:
    """Return the temporary folder of live mode for an unsaved .blend, which Blender deletes when it quits."""
    return Path(bpy.app.tempdir) / CACHE / f"{folder_name(obj.name)}{LIVE}"


def live_folder(obj: Any) -> Path:
    """Create the folder of live mode (:func:`live_path`) and return it; StoreError if it cannot be written."""
    return writable(live_path(obj))


def compare_path(folder: Path) -> Path:
    """Return the folder of the second bake that a comparison has of the bake in ``folder``."""
    return folder.with_name(f"{folder.name}{COMPARE}")


def recorded_folder(obj: Any, home: str = "") -> Path | None:
    """Return the folder of the object's last bake by its record, relative to the library of a linked object, else to
    ``home`` or the record's home; None without a bake, or if its use would be a risk (:func:`stored_path`).
    """
    record, library = obj.sinew.bake, linked.library_of(obj)
    folder = text_of(record, "folder")
    start = home or (text_of(record, "home") if library is None else "")
    return stored_path(folder, start, library) if folder else None


def writable(folder: Path) -> Path:
    """Create a folder ``sinew_cache/NAME/OBJECT`` and return it; StoreError if it cannot be written safely."""
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
