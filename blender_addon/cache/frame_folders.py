"""Paths of the folders with an object's frames."""

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
"""Name of the folder beside a .blend with the frames of all objects."""
LIVE, COMPARE = "-live", "-compare"
"""Suffixes of an object's folders for live mode and for the second bake of a comparison."""
LONGEST = 200
"""Maximum length of an object's name in its folder name, bytes.

Since Blender 5.0, both may have 255 bytes. This maximum leaves room for suffixes.
"""


def has_home() -> bool:
    """Return True if the open .blend can have a frame folder: it is saved, and its path is valid UTF-8."""
    return bool(bpy.data.filepath) and is_utf8(bpy.data.filepath)


def home_folder() -> Path:
    """Return the folder ``sinew_cache/NAME`` beside the open .blend, with the frame folders of all objects.

    Raises StoreError if the .blend is not saved or its path is not UTF-8.
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
    """Return the frame folder named after the object. If another object uses it, a number is appended."""
    home, name = home_folder(), folder_name(obj.name, text_of(obj.sinew, "identity"))
    folder, k = home / name, 2
    # A renamed object keeps its folder, so a new object of the old name gets another.
    taken = [recorded_folder(other) for other in bpy.data.objects if other != obj]
    while folder in taken:
        folder, k = home / f"{name}-{k}", k + 1
    return folder


def folder_name(name: str, identity: str = "") -> str:
    """Return the name of the frame folder of an object called ``name``.

    The random text ``identity`` tells the object from a deleted object of the same name.
    """
    return f"{readable_name(name)}-{hashlib.sha256((name + identity).encode()).hexdigest()[:8]}"


def readable_name(name: str) -> str:
    """Return the readable part of a frame folder's name: the object's name, short and without special characters."""
    short = re.sub(r"[^\w-]+", "_", name).strip("_") or "object"
    return short.encode()[:LONGEST].decode(errors="ignore")


def live_path(obj: Any) -> Path:
    """Return the object's folder for live mode. This is a temporary folder if the .blend is not saved."""
    if not has_home():
        return unsaved_live_path(obj)
    folder = default_folder(obj)
    return folder.with_name(f"{folder.name}{LIVE}")


def unsaved_live_path(obj: Any) -> Path:
    """Return the object's temporary folder for live mode in an unsaved .blend. Blender deletes it at exit."""
    return Path(bpy.app.tempdir) / CACHE / f"{folder_name(obj.name)}{LIVE}"


def live_folder(obj: Any) -> Path:
    """Create and return the object's folder for live mode. Raises StoreError if it cannot be written."""
    return writable(live_path(obj))


def compare_path(folder: Path) -> Path:
    """Return the folder of the second bake (ghost) that is compared with the bake in ``folder``."""
    return folder.with_name(f"{folder.name}{COMPARE}")


def recorded_folder(obj: Any, home: str = "") -> Path | None:
    """Return the absolute path of the frame folder in the object's bake record.

    Returns None without a bake, or if :func:`stored_path` refuses the path. A leading // in the recorded path stands
    for the library's folder if the object is linked, and else for the folder ``home``. If ``home`` is "", // stands for
    the folder stored in the bake record.
    """
    record, library = obj.sinew.bake, linked.library_of(obj)
    folder = text_of(record, "folder")
    start = home or (text_of(record, "home") if library is None else "")
    return stored_path(folder, start, library) if folder else None


def writable(folder: Path) -> Path:
    """Create a folder ``sinew_cache/NAME/OBJECT`` and return it.

    Raises StoreError if the folder cannot be written safely.
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
    """Return the modification time of a file or folder, ns. A missing file returns -1."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return -1
