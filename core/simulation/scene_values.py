"""Values of scene files: numbers, chosen vertices, and what is keyed over the frames; SettingsError where they are of
another kind.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any, TypeVar

import numpy as np

from ..errors import SettingsError
from ..mesh.surface_mesh import SurfaceMesh

Settings = TypeVar("Settings")
WHERE = {"box", "vertices"}


def check_file_name(value: Any, what: str) -> None:
    """SettingsError where a value is not the name of a file."""
    if not isinstance(value, str) or not value:
        raise SettingsError(f"{what} is {value!r}, not the name of a file.", 'Write "FILE", in quotes.')


def check_keys(table: dict[str, Any], known: set[str], where: str) -> None:
    """SettingsError where a table has an entry that is not known."""
    unknown = sorted(set(table) - known)
    if unknown:
        raise SettingsError(f"Unknown entry “{unknown[0]}” in {where}.", f"Known are {', '.join(sorted(known))}.")


def settings_of(cls: type[Settings], table: dict[str, Any], where: str) -> Settings:
    """Settings whose fields are the entries of a table."""
    check_keys(table, {f.name for f in fields(cls)}, where)
    return cls(**table)


def numbers(value: Any, what: str, remedy: str) -> np.ndarray:
    """A list of numbers, or of lists of equal length, as an array of them; SettingsError for anything else."""
    wrong = SettingsError(f"{what} is {value!r:.80}.", remedy)
    try:
        array = np.asarray(value)
    except ValueError as error:  # ragged
        raise wrong from error
    if array.size and array.dtype.kind not in "iuf":
        raise wrong
    return array


def chosen(table: dict[str, Any], surface: SurfaceMesh, where: str) -> np.ndarray:
    """Surface vertices named by ``box`` or ``vertices``; SettingsError when they are none."""
    X = surface.positions
    remedy = "Give box = [[x, y, z], [x, y, z]] or vertices = [...]."
    if len(WHERE & set(table)) != 1:
        raise SettingsError(
            f"{where} {'names vertices twice' if WHERE <= set(table) else 'names no vertices'}.", remedy
        )
    if "vertices" in table:
        found = numbers(table["vertices"], f"vertices of {where}", "Give vertices = [...], whole numbers.")
        if found.size == 0 or found.ndim != 1 or found.dtype.kind == "f":
            raise SettingsError(f"vertices of {where} is {table['vertices']!r:.80}.", "Give a list of whole numbers.")
        if found.min() < 0 or found.max() >= len(X):
            raise SettingsError(f"A vertex in {where} does not exist.", f"The mesh has {len(X)} vertices.")
        return found.astype(np.int32)
    box = numbers(table["box"], f"box of {where}", "Give box = [[x, y, z], [x, y, z]].")
    if box.shape != (2, 3):
        raise SettingsError(f"{where} names no vertices.", remedy)
    found = np.flatnonzero(((X >= box[0]) & (X <= box[1])).all(axis=1)).astype(np.int32)
    if len(found) == 0:
        low, high = (np.array2string(corner, precision=4, separator=", ") for corner in (X.min(axis=0), X.max(axis=0)))
        raise SettingsError(
            f"The box of {where} holds no vertex.",
            f"Give the lower corner first; the mesh lies between {low} and {high}.",
        )
    return found


def keyed(value: Any, frames: np.ndarray, size: int, what: str) -> np.ndarray:
    """Values (frames, size) at the numbered frames: ``[[frame, value, ...], ...]``, linear between and constant
    outside, or one value for all of them.
    """
    shown = ", ".join("xyz"[:size]) if size == 3 else "value"
    remedy = f"Give [[frame, {shown}], ...] with ascending frames."
    keys = numbers(value, what, remedy).astype(np.float64)
    if keys.ndim < 2 and keys.size == size:
        keys = np.concatenate([frames[:1], np.atleast_1d(keys)])[None]
    if keys.ndim != 2 or keys.shape[1] != 1 + size or not np.isfinite(keys).all() or (np.diff(keys[:, 0]) <= 0).any():
        raise SettingsError(f"{what} is no list of [frame, {shown}].", remedy)
    return np.column_stack([np.interp(frames, keys[:, 0], column) for column in keys[:, 1:].T])
