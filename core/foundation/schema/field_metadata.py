"""Metadata of dataclass fields. Jobs are nested frozen dataclasses of arrays and numbers.

Files, fingerprints, reports of edits and other frame ranges are derived by walking over the fields (:func:`leaves`), so
a new field needs only its own line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import MISSING, Field, field, fields, is_dataclass, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

Change = Callable[[np.ndarray], np.ndarray]
"""Function that converts a track of a job's frames to other frames."""
Owner = TypeVar("Owner")


class FieldSpec(NamedTuple):
    """Metadata of a dataclass field.

    Attributes
    ----------
    label : str or None
        User-visible name; the field's name by default.
    word : str
        Name of the fingerprint of this field and all nested ones.
    dtype : type or None
        Of an array.
    over_frames : bool
        The array has a value per frame, or is a track (``core/foundation/schema/tracks.py``).
    once : bool
        Equal samples are collapsed to one.
    filled : bool
        None is replaced by a computed value on construction.
    counted : bool
        The rows of the array are objects that the user counts: the label is their plural.
    each_of : str
        Field of the owner to which its columns, or its items by their ``material``, correspond.
    names_of : str
        Field of the body that its indices refer to.
    rules : tuple of str
        Paths, from the owner, of fields without effect while this is None.
    shown : str
        Attribute of the owner that is shown to the user instead.
    menu : bool
        The values are names of a registry.
    """

    label: str | None = None
    word: str = ""
    dtype: type | None = None
    over_frames: bool = False
    once: bool = False
    filled: bool = False
    counted: bool = False
    each_of: str = ""
    names_of: str = ""
    rules: tuple[str, ...] = ()
    shown: str = ""
    menu: bool = False


class Leaf(NamedTuple):
    """A value that is not a dataclass: its ``path`` from the root (``springs.0.targets``), the fields along it, and the
    dataclass that owns it.
    """

    path: str
    value: Any
    fields: tuple[Field, ...]
    owner: Any

    @property
    def about(self) -> FieldSpec:
        """Metadata of the leaf's field."""
        return spec_of(self.fields[-1])

    @property
    def word(self) -> str:
        """Name of the leaf's fingerprint, set by the nearest field along the path."""
        return next(word for item in reversed(self.fields) if (word := spec_of(item).word))


def field_spec(
    label: str | None = None, *, default: Any = MISSING, default_factory: Any = MISSING, **options: Any
) -> Any:
    """Return a dataclass field with its :class:`FieldSpec`."""
    return field(default=default, default_factory=default_factory, metadata={"about": FieldSpec(label, **options)})


def spec_of(item: Field) -> FieldSpec:
    """Return the metadata of a field."""
    return item.metadata.get("about", FieldSpec())


def is_tuple_of_dataclasses(value: Any) -> bool:
    """Return True if a value is a tuple of dataclasses."""
    return isinstance(value, tuple) and any(map(is_dataclass, value))


def leaves(value: Any, path: str = "", parents: tuple[Field, ...] = (), owner: Any = None) -> Iterator[Leaf]:
    """Yield all leaves of nested dataclasses, or tuples of them, in the order of their fields."""
    if is_dataclass(value):
        for item in fields(value):
            yield from leaves(getattr(value, item.name), f"{path}.{item.name}".lstrip("."), (*parents, item), value)
    elif is_tuple_of_dataclasses(value):
        for k, each in enumerate(value):
            yield from leaves(each, f"{path}.{k}".lstrip("."), parents, owner)
    else:
        yield Leaf(path, value, parents, owner)


def equal_fields(a: Any, b: Any) -> bool:
    """Return True if two dataclasses, or values of a field, are equal, including names."""
    one, other = ({leaf.path: leaf.value for leaf in leaves(each)} for each in (a, b))
    return one.keys() == other.keys() and all(_same(one[path], other[path]) for path in one)


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return a is not None and b is not None and np.array_equal(a, b)
    return a == b


def map_tracks(owner: Owner, change: Change, **also: Any) -> Owner:
    """Return a dataclass with ``change`` applied to all its tracks, and with the fields of ``also``."""
    for item in fields(owner):
        before = getattr(owner, item.name)
        now = _over(before, change, spec_of(item).over_frames)
        also |= {} if now is before else {item.name: now}
    return replace(owner, **also) if also else owner


def _over(value: Any, change: Change, over_frames: bool) -> Any:
    if is_dataclass(value):
        return map_tracks(value, change)
    if is_tuple_of_dataclasses(value):
        return tuple(map_tracks(each, change) for each in value)
    return change(value) if over_frames and value is not None else value


def lengths(owner: Any) -> set[int]:
    """Return the lengths of the tracks in a dataclass."""
    return {len(leaf.value) for leaf in leaves(owner) if leaf.about.over_frames and leaf.value is not None}
