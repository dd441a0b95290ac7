"""Parts: frozen dataclasses of arrays, numbers and further parts, whose fields tell in their metadata what they are.

Files, fingerprints, the words for what was edited, and other frame ranges are made by walking over them
(:func:`leaves`), so that a new field has all of these from its own line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import MISSING, Field, field, fields, is_dataclass, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

Change = Callable[[np.ndarray], np.ndarray]
"""Makes a track of a job's frames one of other frames."""
Owner = TypeVar("Owner")


class FieldSpec(NamedTuple):
    """Metadata of a dataclass field.

    Attributes
    ----------
    label : str or None
        The artist's word for it; its name by default.
    word : str
        Of the fingerprint that it, and all parts in it, belong to.
    dtype : type or None
        Of an array.
    over_frames : bool
        Whether the array has a value a frame, or is a track (``core/foundation/schema/tracks.py``).
    once : bool
        Whether one sample is enough for what stands still: equal ones are made one.
    filled : bool
        Whether None, if it may be given, is made something when the part is made.
    counted : bool
        Whether the rows of the array are things that an artist counts: the label is their plural.
    each_of : str
        The field of its owner with what its columns, or its items by their ``material``, belong to.
    names_of : str
        The field of the body with what its numbers stand for.
    rules : tuple of str
        Paths, from its owner, of what is of no consequence while this is None.
    shown : str
        The attribute of its owner that is shown to an artist in its place.
    menu : bool
        Whether its values are names of a registry.
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
    """A value that is not itself a dataclass: its ``path`` from the root (``springs.0.targets``), the fields along it,
    and the dataclass that owns it.
    """

    path: str
    value: Any
    fields: tuple[Field, ...]
    owner: Any

    @property
    def about(self) -> FieldSpec:
        """Its own field's."""
        return spec_of(self.fields[-1])

    @property
    def word(self) -> str:
        """Word of its fingerprint, that of the nearest field along the path."""
        return next(word for item in reversed(self.fields) if (word := spec_of(item).word))


def field_spec(label: str | None = None, *, default: Any = MISSING, default_factory: Any = MISSING, **told: Any) -> Any:
    """A dataclass field with its :class:`About`."""
    return field(default=default, default_factory=default_factory, metadata={"about": FieldSpec(label, **told)})


def spec_of(item: Field) -> FieldSpec:
    """Return the metadata of a field."""
    return item.metadata.get("about", FieldSpec())


def is_tuple_of_dataclasses(value: Any) -> bool:
    """Return True if it is a tuple of parts."""
    return isinstance(value, tuple) and any(map(is_dataclass, value))


def leaves(value: Any, path: str = "", way: tuple[Field, ...] = (), owner: Any = None) -> Iterator[Leaf]:
    """All that parts, or tuples of them, are made of, in the order of their fields."""
    if is_dataclass(value):
        for item in fields(value):
            yield from leaves(getattr(value, item.name), f"{path}.{item.name}".lstrip("."), (*way, item), value)
    elif is_tuple_of_dataclasses(value):
        for k, each in enumerate(value):
            yield from leaves(each, f"{path}.{k}".lstrip("."), way, owner)
    else:
        yield Leaf(path, value, way, owner)


def equal_fields(a: Any, b: Any) -> bool:
    """Return True if two parts, or values of a field, are equal; names count."""
    one, other = ({leaf.path: leaf.value for leaf in leaves(each)} for each in (a, b))
    return one.keys() == other.keys() and all(_same(one[path], other[path]) for path in one)


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return a is not None and b is not None and np.array_equal(a, b)
    return a == b


def map_tracks(owner: Owner, change: Change, **also: Any) -> Owner:
    """A part over other frames: ``change`` makes them of all in it that is over frames, ``also`` are further fields."""
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
