"""Whose a folder of baked frames is: one object's of one .blend. What is another's is read and never written.

A duplicate, an appended copy and a file saved under another name begin with the folder of their origin; they get one of
their own when something is to be written.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path
from typing import Any

import bpy

from ...core.errors import StoreError
from .job_in import default_folder, recorded_folder, writable


def is_own(obj: Any) -> bool:
    """Whether the recorded folder may be written for ``obj``: no other object names it, and no other .blend."""
    folder = recorded_folder(obj)
    return folder is None or not (_is_another_files(folder) or _is_shared(obj, folder))


def may_delete(obj: Any, folder: Path) -> bool:
    """Whether a folder that ``obj`` names, or has just named, is of no use to anything else."""
    return not (_is_another_files(folder) or _is_shared(obj, folder))


def folder_to_write(obj: Any) -> Path:
    """Where the next bake of ``obj`` is written, made and tried: where the last one lies if that is its own beside this
    .blend (the object may have another name by now), else a folder of its name. StoreError when it cannot be written.
    """
    recorded, folder = recorded_folder(obj), default_folder(obj)
    stays = recorded is not None and recorded.parent == Path(os.path.normpath(folder.parent)) and is_own(obj)
    return writable(recorded if stays else folder)


def _is_shared(obj: Any, folder: Path) -> bool:
    return any(recorded_folder(other) == folder for other in bpy.data.objects if other != obj)


def _is_another_files(folder: Path) -> bool:
    """Whether a folder ``sinew_cache/NAME/OBJECT`` lies beside another file ``NAME.blend`` that is there."""
    home = Path(os.path.normpath(folder)).parent
    blend = home.parent.parent / f"{home.name}.blend"
    return blend.is_file() and not (bpy.data.filepath and blend.samefile(bpy.data.filepath))


def delete_empty(folder: Path) -> None:
    """Take away an empty folder ``sinew_cache/NAME/OBJECT``, and those above it that are empty then."""
    home = folder.parent
    if home.parent.name != "sinew_cache":
        return
    for place in (folder, home, home.parent):
        with contextlib.suppress(OSError):  # not empty, not there, or not ours to delete: it stays
            place.rmdir()


def copy_to_own(obj: Any) -> None:
    """Copy the recorded frames of ``obj`` to a folder of its own, which is recorded; StoreError when that fails."""
    source, folder = recorded_folder(obj), default_folder(obj)
    part = folder.with_name(f"{folder.name}.part")
    try:
        shutil.rmtree(part, ignore_errors=True)
        shutil.copytree(source, part)
        if folder.exists():  # of an object, or a file, that had this name before
            shutil.rmtree(folder)
        part.rename(folder)
    except OSError as error:
        shutil.rmtree(part, ignore_errors=True)
        raise StoreError(
            f"The frames in {source} cannot be copied to {folder} ({error.strerror or error}).",
            "Free disk space, or save the .blend where you may write.",
        ) from error
    obj.sinew.bake.folder = kept_path(folder)


def kept_path(path: Path, home: str | None = None) -> str:
    """A path as the .blend keeps it: from there (or from the folder ``home``), or as it is on another drive. Its parts
    are divided as every system understands: what was baked on Windows may be rendered on Linux.
    """
    try:
        return bpy.path.relpath(str(path), start=home).replace(os.sep, "/")
    except ValueError:
        return str(path)
