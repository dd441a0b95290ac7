"""Metadata of dataclass fields. Jobs are nested frozen dataclasses of arrays and numbers.

Code that visits all fields (:func:`leaves`) writes job files, computes fingerprints (hashes of parts of a job), reports
edits and changes the frame range. So a new field is declared in a single line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import MISSING, Field, field, fields, is_dataclass, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

Change = Callable[[np.ndarray], np.ndarray]
"""Function that adapts a track (samples of an animated value) to another frame range."""
Owner = TypeVar("Owner")


class FieldSpec(NamedTuple):
    """Metadata of a dataclass field.

    Attributes
    ----------
    label : str or None
        User-visible name; None for the field's own name.
    word : str
        Name of the fingerprint (hash of field values) that includes this field and all fields nested in this field.
    dtype : type or None
        Type of an array's elements; None for any numbers.
    over_frames : bool
        The array is a track: samples over the frames (``core/foundation/schema/tracks.py``).
    once : bool
        The array is a track that is stored as one sample if all samples are equal.
    filled : bool
        The value None is replaced by a computed one on construction.
    counted : bool
        Reports of edits give the number of changed rows; the label is a plural: "3 of 20 vertices".
    each_of : str
        Name of a list in the body, such as ``materials``. Column k of this array, or the items of this tuple with
        ``material`` index k, belong to item k of the list. Reports of edits name that item.
    names_of : str
        Name of a list in the body, which the indices in this field refer to.
    rules : tuple of str
        Fields that have no effect while this field is None, as paths that begin at the dataclass with this field.
    shown : str
        Attribute of the owner that reports of edits show in place of this field.
    menu : bool
        The value is a name in a registry, and reports of edits show its menu label.
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
    """Leaf of a tree of nested dataclasses: a value that is neither a dataclass nor a tuple of dataclasses.

    Attributes
    ----------
    path : path from the root, such as ``springs.0.targets``
    value : the value
    fields : dataclass fields along the path
    owner : the dataclass that holds the value
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
        """Name of the fingerprint (hash of field values) that includes this value.

        The innermost field along the path with a nonempty ``FieldSpec.word`` decides.
        """
        return next(word for item in reversed(self.fields) if (word := spec_of(item).word))


def field_spec(
    label: str | None = None, *, default: Any = MISSING, default_factory: Any = MISSING, **options: Any
) -> Any:
    """Return a dataclass field whose metadata is a :class:`FieldSpec` with ``label`` and ``options``."""
    return field(default=default, default_factory=default_factory, metadata={"about": FieldSpec(label, **options)})


def spec_of(item: Field) -> FieldSpec:
    """Return the metadata of a dataclass field, by default a :class:`FieldSpec` of defaults."""
    return item.metadata.get("about", FieldSpec())


def is_tuple_of_dataclasses(value: Any) -> bool:
    """Return True if a value is a tuple that contains dataclasses."""
    return isinstance(value, tuple) and any(map(is_dataclass, value))


def leaves(value: Any, path: str = "", parents: tuple[Field, ...] = (), owner: Any = None) -> Iterator[Leaf]:
    """Yield a :class:`Leaf` for each value in a dataclass, in the order of the fields.

    Nested dataclasses, and tuples of dataclasses, are traversed recursively. Callers pass ``value`` only; the recursion
    passes the ``path`` of the value, the fields along the path (``parents``) and the ``owner`` of the value.
    """
    if is_dataclass(value):
        for item in fields(value):
            yield from leaves(getattr(value, item.name), f"{path}.{item.name}".lstrip("."), (*parents, item), value)
    elif is_tuple_of_dataclasses(value):
        for k, each in enumerate(value):
            yield from leaves(each, f"{path}.{k}".lstrip("."), parents, owner)
    else:
        yield Leaf(path, value, parents, owner)


def equal_fields(a: Any, b: Any) -> bool:
    """Return True if two dataclasses, or two values of one field, are equal, also in nested fields."""
    one, other = ({leaf.path: leaf.value for leaf in leaves(each)} for each in (a, b))
    return one.keys() == other.keys() and all(_same(one[path], other[path]) for path in one)


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return a is not None and b is not None and np.array_equal(a, b)
    return a == b


def map_tracks(owner: Owner, change: Change, **also: Any) -> Owner:
    """Return a copy of a dataclass with the function ``change`` applied to all tracks, also in nested dataclasses.

    ``also``: new values of other fields of the copy, by name.
    """
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
    """Return the distinct sample counts of all tracks (samples of animated values) in a dataclass."""
    return {len(leaf.value) for leaf in leaves(owner) if leaf.about.over_frames and leaf.value is not None}
