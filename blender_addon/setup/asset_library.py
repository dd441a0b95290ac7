"""Registration of the extension's asset folder as an asset library in Blender's preferences.

The folder is only read, so it may be read-only. An update of the extension keeps its path. The entry is never added or
removed without the user, and stays when the extension is disabled, since the assets work without it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import bpy

from ...core.foundation.errors import StoreError

NAME = "Sinew"
FOLDER = Path(__file__).resolve().parents[1] / "assets"
CATALOGS = "blender_assets.cats.txt"
"""File in which Blender keeps the catalogs of a library."""


def registered() -> Any | None:
    """Return the entry of Blender's preferences with the extension's asset folder, or None."""
    return next((entry for entry in _entries() if _same(entry.path, FOLDER)), None)


def add() -> Any:
    """Add the asset folder to the asset libraries of Blender's preferences. Returns the entry, a new one only if none
    has this folder.

    An entry of Sinew whose folder does not exist any more, such as that of another Blender version, gets the folder.
    Raises StoreError if the folder is missing.
    """
    if not (FOLDER / CATALOGS).is_file():
        raise StoreError(f"The folder of the assets, {FOLDER}, is missing.", "Install the extension again.")
    if (entry := registered()) is not None:
        return entry
    entry = next((each for each in _entries() if each.name == NAME and not os.path.isdir(each.path)), None)
    if entry is None:
        entry = _entries().new(name=NAME, directory=str(FOLDER))
        try:
            entry.import_method = "APPEND_REUSE"  # the values of a linked material cannot be edited
        except TypeError:  # the name in Blender 5.2
            entry.import_method = "APPEND"
    else:
        entry.path = str(FOLDER)
    bpy.context.preferences.is_dirty = True
    return entry


def remove() -> None:
    """Remove the entry of the asset folder from Blender's preferences. No file is deleted."""
    if (entry := registered()) is not None:
        _entries().remove(entry)
        bpy.context.preferences.is_dirty = True


def _entries() -> Any:
    return bpy.context.preferences.filepaths.asset_libraries


def _same(path: str, folder: Path) -> bool:
    return bool(path) and os.path.normcase(os.path.realpath(path)) == os.path.normcase(os.path.realpath(folder))
