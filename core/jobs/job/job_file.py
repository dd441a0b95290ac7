"""Job files: a dataclass in an ``.npz`` file without pickle.

Arrays are named by field paths (``bodies.0.tets``). The entry ``settings`` is the JSON text of all other values. When a
file is read, the type annotation of a field determines the type of its value.
"""

from __future__ import annotations

import json
import zipfile
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

from ...foundation.errors import SinewError, StoreError
from ...foundation.files.array_file import whole_file
from ...foundation.files.npz_file import read_npz, write_npz
from ...foundation.schema.field_metadata import leaves, spec_of

Part = TypeVar("Part")
Arrays = dict[str, np.ndarray]

# Exceptions that zipfile, NumPy, JSON and constructors of dataclasses raise for foreign content.
_UNREADABLE = (OSError, EOFError, ValueError, LookupError, TypeError, OverflowError, RuntimeError, zipfile.BadZipFile)
_ACCEPTED: dict[Any, tuple[type, ...]] = {int: (int,), float: (int, float), str: (str,), bool: (bool,)}


def save_part(path: Path, whole: Any, format: int) -> None:
    """Write the dataclass object ``whole`` and the version number ``format`` to a file.

    No incomplete file is left behind. Raises StoreError if the file cannot be written.
    """
    text = json.dumps({"format": format, "whole": _plain(whole)})
    arrays = {leaf.path: leaf.value for leaf in leaves(whole) if isinstance(leaf.value, np.ndarray)}
    with whole_file(Path(path)) as file:
        write_npz(file, {"settings": np.frombuffer(text.encode(), dtype=np.uint8), **arrays})


def load_part(path: Path, cls: type[Part], format: int) -> Part:
    """Return an object of the dataclass ``cls`` from a file that :func:`save_part` wrote.

    Raises StoreError for any other file, and for another version number than ``format``.
    """
    try:
        arrays = read_npz(Path(path))
        settings = json.loads(arrays.pop("settings").tobytes().decode())
        if settings["format"] != format:
            raise ValueError(f"another version of Sinew wrote it: format {settings['format']}")
        return _part(cls, settings["whole"], "", arrays)
    except (*_UNREADABLE, SinewError) as error:
        raise StoreError(
            f"The job file {Path(path).name} cannot be read ({error}).", "Delete the bake and bake again."
        ) from error


def _plain(value: Any) -> Any:
    """Return a dataclass object without its arrays as dicts, lists and numbers for JSON."""
    if is_dataclass(value):
        named = {"class": type(value).__name__} | {item.name: getattr(value, item.name) for item in fields(value)}
        return {name: _plain(each) for name, each in named.items() if not isinstance(each, np.ndarray)}
    return [_plain(each) for each in value] if isinstance(value, tuple) else value


def _part(cls: type[Part], values: Any, path: str, arrays: Arrays) -> Part:
    kinds, given = get_type_hints(cls), {}
    if not isinstance(values, dict) or not values.keys() <= {"class", *(item.name for item in fields(cls))}:
        raise ValueError(f"{path or 'it'} is of another type")
    for item in fields(cls):
        own, kind = f"{path}.{item.name}".lstrip("."), kinds[item.name]
        if NoneType in get_args(kind):
            if own not in arrays and values[item.name] is None and not spec_of(item).filled:
                given[item.name] = None
                continue
            kind = get_args(kind)[0]
        given[item.name] = arrays[own] if kind is np.ndarray else _value(kind, values[item.name], own, arrays)
    return cls(**given)


def _value(kind: Any, value: Any, path: str, arrays: Arrays) -> Any:
    if isinstance(kind, UnionType):
        kind = {each.__name__: each for each in get_args(kind)}[value["class"]]
    if is_dataclass(kind):
        return _part(kind, value, path, arrays)
    if kind in _ACCEPTED and type(value) in _ACCEPTED[kind]:
        return value
    if kind in _ACCEPTED or not isinstance(value, list):
        raise ValueError(f"{path} is of another type")
    if get_origin(kind) is not tuple:  # a NamedTuple
        return kind(*_items(tuple(get_type_hints(kind).values()), value, path, arrays))
    kinds = get_args(kind)
    return tuple(_items(kinds[:1] * len(value) if kinds[-1] is Ellipsis else kinds, value, path, arrays))


def _items(kinds: tuple[Any, ...], values: list[Any], path: str, arrays: Arrays) -> list[Any]:
    return [_value(kind, v, f"{path}.{k}", arrays) for k, (kind, v) in enumerate(zip(kinds, values, strict=True))]
