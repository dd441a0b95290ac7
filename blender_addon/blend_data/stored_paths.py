"""Paths stored in a .blend, with checks before use, since the .blend may be untrusted."""

from __future__ import annotations

import ntpath
import os
from pathlib import Path
from typing import Any

import bpy

from ...core.foundation.errors import StoreError

_ON_WINDOWS = os.name == "nt"
_appended_from: set[str] = set()


def stored_path(stored: str, start: str = "", library: Any = None) -> Path | None:
    """Return a path stored in a .blend as an absolute path. On Windows, returns None for a path on another computer.

    A leading // stands for the folder of the linked file ``library``. Without ``library``, // stands for the folder
    ``start`` or, if ``start`` is "", for the folder of the open .blend.

    Windows would send the user's login to another computer. A network path is accepted if the open .blend, a library,
    or a file from which data was appended is on the same network share.
    """
    # A path saved on Windows may have backslashes, which Blender accepts on all systems.
    path = bpy.path.abspath(bpy.path.native_pathsep(stored), start=start or None, library=library)
    if _ON_WINDOWS:
        libraries = (bpy.path.abspath(each.filepath) for each in bpy.data.libraries)
        if is_on_another_computer(path, bpy.data.filepath, *libraries, *_appended_from):
            return None
    return Path(os.path.normpath(path))


def note_append(path: str) -> None:
    """Record the ``path`` of a folder from which the user has appended data.

    If the folder is on a network share, :func:`stored_path` then accepts other paths on this share.
    """
    _appended_from.add(path)


def is_on_another_computer(path: str, *known: str) -> bool:
    r"""Return True if a Windows path is on an unknown network share (``\\COMPUTER\SHARE``) or device.

    A share or device is known if a path in ``known`` is on it. The user has opened these paths.
    """
    there, *here = (ntpath.splitdrive(ntpath.normpath(each))[0].lower() for each in (path, *known))
    return there.startswith("\\\\") and there not in here


def is_utf8(path: str) -> bool:
    """Return True if a path is valid UTF-8, as Blender's properties require."""
    return path == readable(path)


def readable(path: str) -> str:
    """Return a path for display, with undecodable bytes replaced."""
    return path.encode(errors="replace").decode()


def is_straight(folder: Path) -> bool:
    """Return True if none of the last three folders of a path ``.../sinew_cache/NAME/OBJECT`` is a link.

    In an untrusted project, a link there may lead to other people's frames. Links above ``sinew_cache`` are allowed,
    since the user made them.
    """
    parent = folder.parents[2]
    seeming = os.path.join(os.path.realpath(parent), folder.relative_to(parent))
    return os.path.normcase(os.path.realpath(folder)) == os.path.normcase(seeming)


def check_straight(folder: Path) -> None:
    """Raise StoreError if ``folder`` is reached through a link (:func:`is_straight`)."""
    if not is_straight(folder):
        raise StoreError(
            f"{folder} is a link to {readable(os.path.realpath(folder))}, where frames of other files may be.",
            "Replace the link by a folder, or save the .blend elsewhere.",
        )
