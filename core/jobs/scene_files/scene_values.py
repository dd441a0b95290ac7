"""Tables of scene files with typed access to their entries. A value of the wrong type raises SettingsError."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ...foundation.errors import SettingsError
from ...geometry.mesh.surface_mesh import SurfaceMesh
from .surface_file import read_surface

Settings = TypeVar("Settings")
STILL = (0, 0, 0)
WHERE = frozenset({"box", "vertices"})
"""Names of the entries that select surface vertices in a table of a scene file."""


class Reading(NamedTuple):
    """Body that is being read from a scene file.

    ``folder``: folder of the scene file.
    ``surface``: surface of the body.
    ``frames`` (f,): frame numbers of the scene.
    """

    folder: Path
    surface: SurfaceMesh
    frames: np.ndarray


class Table:
    """Table of a scene file, for example ``[[pins]]``.

    Parameters
    ----------
    entries : values of the table's entries, by name
    where : name of the table in error messages: ``pins 1``
    body : body that the table belongs to
    known : names that entries may have
    """

    def __init__(self, entries: dict[str, Any], where: str, body: Reading, known: Collection[str]) -> None:
        check_keys(entries, known, where)
        self.entries, self.where, self.body = entries, where, body

    def __contains__(self, name: str) -> bool:
        return name in self.entries

    def given(self, cls: type) -> dict[str, Any]:
        """Return the entries that are fields of the settings class ``cls``, by name, unchecked."""
        return {name: value for name, value in self.entries.items() if name in names_of(cls)}

    def settings(self, name: str, cls: type[Settings], example: str) -> Settings:
        """Return an object of the settings class ``cls`` from the nested table in the entry ``name``.

        Raises SettingsError, with the ``example`` of a correct table, if the entry is not a table.
        """
        label, value = self._label_of(name), self.entries[name]
        if not isinstance(value, dict):
            raise SettingsError(f"{label} is not a table.", f"Write {name} = {example}.")
        return settings_of(cls, value, f"the {name} of {self.where}")

    def text(self, name: str, default: str) -> str:
        """Return the string in the entry ``name``, by default ``default``."""
        return self._of_type(name, default, f'Write {name} = "WORD", in quotes.', ", not a text")

    def switch(self, name: str) -> bool:
        """Return the boolean in the entry ``name``, by default False."""
        return self._of_type(name, False, "Write true or false.")

    def whole(self, name: str, default: int, remedy: str, low: float = -np.inf, high: float = np.inf) -> int:
        """Return the integer in the entry ``name``, by default ``default``.

        Raises SettingsError, with the ``remedy``, for values that are not integers from ``low`` to ``high``.
        """
        value = self._of_type(name, default, remedy)
        if not low <= value <= high:
            raise self._wrong(name, remedy)
        return value

    def word(self, name: str, words: Collection[str], default: str = "") -> str:
        """Return the string in the entry ``name``, one of ``words``.

        A missing entry gives the ``default``. The entry is required if ``default`` is empty. Raises SettingsError for a
        string that is not in ``words``.
        """
        listed, value = ", ".join(words), self.entries.get(name, default)
        if not default and name not in self:
            raise SettingsError(f"{self.where} has no {name}.", f'Give {name} = "WORD", one of {listed}.')
        if value not in tuple(words):
            raise SettingsError(f"{self._label_of(name)} is {value!r:.80}.", f"Choose one of {listed}.")
        return value

    def surface(self, name: str) -> SurfaceMesh:
        """Return the surface from the mesh file in the entry ``name``."""
        check_file_name(self.entries.get(name), self._label_of(name))
        return read_surface(self.body.folder / self.entries[name])

    def keyed(self, name: str, default: Any = None, size: int = 1, example: str = "NUMBER") -> np.ndarray:
        """Return the values of the keyframed entry ``name`` at all frames: (frames, size), or (frames,) for size 1.

        The entry is one value, or a list ``[[frame, value, ...], ...]``. Values are interpolated linearly between the
        keys, and constant before the first and after the last key. The error for a missing entry shows the ``example``.
        """
        if default is None and name not in self:
            raise SettingsError(f"{self.where} has no {name}.", f"Give {name} = {example}.")
        frames, shown = self.body.frames, ", ".join("xyz"[:size]) if size == 3 else "value"
        remedy = f"Give [[frame, {shown}], ...] with ascending frames."
        keys = self._numbers(name, remedy, default).astype(np.float64)
        if keys.ndim < 2 and keys.size == size:
            keys = np.concatenate([frames[:1], np.atleast_1d(keys)])[None]
        fits = keys.ndim == 2 and keys.shape[1] == 1 + size and np.isfinite(keys).all()
        if not fits or (np.diff(keys[:, 0]) <= 0).any():
            problem = "has frames that do not ascend" if fits else f"is not a list of [frame, {shown}]"
            raise SettingsError(f"{self._label_of(name)} {problem}.", remedy)
        values = np.column_stack([np.interp(frames, keys[:, 0], column) for column in keys[:, 1:].T])
        return values[:, 0] if size == 1 else values

    def map(self, name: str) -> np.ndarray:
        """Return the entry ``name`` as an array (n,) of numbers from 0 to 1, one per surface vertex."""
        count = len(self.body.surface.positions)
        remedy = f"Give {count} numbers between 0 and 1, one for each vertex."
        values = self._numbers(name, remedy)
        if values.shape != (count,) or not ((values >= 0.0) & (values <= 1.0)).all():
            raise SettingsError(f"{self._label_of(name)} does not fit the mesh.", remedy)
        return values

    def moved(self, positions: np.ndarray) -> np.ndarray:
        """Return ``positions`` (k,3), m, displaced by the entry ``motion`` at each frame: (frames,k,3), m."""
        return positions + self.keyed("motion", STILL, 3)[:, None]

    def chosen(self) -> np.ndarray:
        """Return the indices (p,) int32 of the surface vertices that the entry ``box`` or ``vertices`` selects."""
        remedy = "Give box = [[x, y, z], [x, y, z]] or vertices = [...]."
        if len(WHERE & self.entries.keys()) != 1:
            names = "has both box and vertices" if WHERE <= self.entries.keys() else "selects no vertices"
            raise SettingsError(f"{self.where} {names}.", remedy)
        return self._listed() if "vertices" in self else self._in_box()

    def _listed(self) -> np.ndarray:
        count, remedy = len(self.body.surface.positions), "Give vertices = [...], whole numbers."
        found = self._numbers("vertices", remedy)
        if found.size == 0 or found.ndim != 1 or found.dtype.kind == "f":
            raise self._wrong("vertices", remedy)
        if found.min() < 0 or found.max() >= count:
            raise SettingsError(f"A vertex in {self.where} does not exist.", f"Give indices from 0 to {count - 1}.")
        return found.astype(np.int32)

    def _in_box(self) -> np.ndarray:
        X, remedy = self.body.surface.positions, "Give box = [[x, y, z], [x, y, z]]."
        box = self._numbers("box", remedy)
        if box.shape != (2, 3):
            raise self._wrong("box", remedy)
        found = np.flatnonzero(((X >= box[0]) & (X <= box[1])).all(axis=1)).astype(np.int32)
        if len(found) == 0:
            low, high = (np.array2string(x, precision=4, separator=", ") for x in (X.min(axis=0), X.max(axis=0)))
            raise SettingsError(
                f"{self._label_of('box')} holds no vertex.",
                f"Give its lower corner first; the mesh lies between {low} and {high}.",
            )
        return found

    def _of_type(self, name: str, default: Any, remedy: str, otherwise: str = "") -> Any:
        value = self.entries.get(name, default)
        if type(value) is not type(default):
            raise SettingsError(f"{self._label_of(name)} is {value!r:.80}{otherwise}.", remedy)
        return value

    def _label_of(self, name: str) -> str:
        return f"The {name} of {self.where}"

    def _wrong(self, name: str, remedy: str) -> SettingsError:
        return SettingsError(f"{self._label_of(name)} is {self.entries.get(name)!r:.80}.", remedy)

    def _numbers(self, name: str, remedy: str, default: Any = None) -> np.ndarray:
        """Return the entry ``name`` as an array of numbers, by default ``default``."""
        try:
            array = np.asarray(self.entries.get(name, default))
        except ValueError as error:  # ragged
            raise self._wrong(name, remedy) from error
        if array.size and array.dtype.kind not in "iuf":
            raise self._wrong(name, remedy)
        return array


def tables_of(scene: dict[str, Any], kind: str, body: Reading, known: Collection[str]) -> Iterator[Table]:
    """Yield all tables ``[[kind]]`` of a body. ``known`` are the permitted names of entries."""
    for k, entries in enumerate(scene.get(kind, [])):
        yield Table(entries, f"{kind} {k + 1}", body, known)


def check_file_name(value: Any, label: str) -> None:
    """Raise SettingsError if ``value`` is not a file name. ``label`` names the entry in the error."""
    if not isinstance(value, str) or not value:
        raise SettingsError(f"{label} is {value!r}, not the name of a file.", 'Write "FILE", in quotes.')


def check_keys(entries: dict[str, Any], known: Collection[str], where: str) -> None:
    """Raise SettingsError if the table named ``where`` has an entry whose name is not in ``known``."""
    unknown = sorted(set(entries).difference(known))
    if unknown:
        raise SettingsError(f"Unknown entry “{unknown[0]}” in {where}.", f"Known entries: {', '.join(sorted(known))}.")


def names_of(cls: type) -> set[str]:
    """Return the field names of a settings class."""
    return {item.name for item in fields(cls)}


def settings_of(cls: type[Settings], entries: dict[str, Any], where: str) -> Settings:
    """Return an object of the settings class ``cls`` with the values in ``entries``, by field name.

    ``where``: name of the table in messages.

    Raises SettingsError if an entry is not a field of ``cls``.
    """
    check_keys(entries, names_of(cls), where)
    return cls(**entries)
