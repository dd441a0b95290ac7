"""The user's material presets, one file per preset in Blender's preset folder.

Blender's own presets are scripts that Blender executes. Sinew's presets are validated JSON, so that a downloaded preset
cannot run code.
"""

from __future__ import annotations

import dataclasses
import json
import os
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import bpy

from ...core.foundation.errors import MaterialError, SinewError, refusing
from ...core.foundation.files import array_file
from ...core.foundation.files.text_file import text_of
from ...core.foundation.schema.settings import MaterialSettings

FORMAT = 1
LARGEST = 2**16
"""Maximum size of a preset file, bytes."""
PREFIX, SUFFIX = "material-", ".json"


class OwnPresets(NamedTuple):
    """Presets in the user's folder. ``materials``: sorted by name. ``refused``: messages about unreadable files."""

    materials: tuple[MaterialSettings, ...]
    refused: tuple[str, ...]


def folder() -> Path:
    """Return the path of the preset folder, which may not exist yet."""
    return Path(bpy.utils.user_resource("SCRIPTS", path=os.path.join("presets", "sinew")))


def path_of(name: str) -> Path:
    """Return the path of the file of the preset called ``name``.

    On a file system that ignores case, names that differ only in case share a file.
    """
    return folder() / f"{PREFIX}{quote(name, safe=' ')}{SUFFIX}"


def own_presets() -> OwnPresets:
    """Return all presets of the user. Changed files are read again."""
    files = sorted(folder().glob(f"{PREFIX}*{SUFFIX}")) if folder().is_dir() else []
    return _read(tuple((path, path.stat().st_mtime_ns, path.stat().st_size) for path in files if path.is_file()))


@lru_cache(maxsize=1)
def _read(files: tuple[tuple[Path, int, int], ...]) -> OwnPresets:
    materials, refused = {}, []
    for path, _time, _size in files:
        try:
            material = read(path)
            materials[material.name] = material
        except SinewError as error:
            refused.append(str(error))
    return OwnPresets(tuple(sorted(materials.values(), key=lambda m: m.name.lower())), tuple(refused))


def read(path: Path) -> MaterialSettings:
    """Read one preset. Raises MaterialError if the file is not valid."""
    try:
        if path.stat().st_size > LARGEST:
            raise ValueError("the file is too large")
        values = json.loads(text_of(path.read_bytes()))
        if not isinstance(values, dict) or values.pop("format", None) != FORMAT:
            raise ValueError("the file has an unknown format")
        known = {field.name for field in dataclasses.fields(MaterialSettings)}
        if unknown := set(values) - known:
            raise ValueError(f"the file has an unknown entry “{min(unknown)}”")
        material = MaterialSettings(**values)
        if not material.name:
            raise ValueError("the preset has no name")
    except (OSError, ValueError, RecursionError, MaterialError) as error:
        raise MaterialError(f"The preset {path.name} cannot be read ({error}).", "Remove the file.") from error
    return material


def save(settings: MaterialSettings) -> None:
    """Save a material as a preset. A preset of the same name is replaced. Raises StoreError if the file cannot be
    written.
    """
    path = path_of(settings.name)
    with refusing(f"The folder {path.parent} cannot be created", "Check that you can write there."):
        path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"format": FORMAT, **dataclasses.asdict(settings)}, indent=4, ensure_ascii=False)
    with array_file.whole_file(path) as file:
        file.write(text.encode() + b"\n")


def remove(name: str) -> None:
    """Delete a preset. Raises StoreError if the preset cannot be deleted."""
    array_file.remove(path_of(name))
