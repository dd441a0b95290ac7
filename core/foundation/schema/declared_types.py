"""Type checks of dataclass fields and function arguments against their annotations.

A value of the wrong type raises an error with the name of the field. A valid value is converted to the library's
internal type: a Python number, a contiguous array or a tuple.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from ..errors import SinewError
from .field_metadata import spec_of
from .setting_fields import shown, typed
from .tracks import collapse_constant

P = ParamSpec("P")
R = TypeVar("R")

_PLAIN = {int: "int", float: "float", str: "str", bool: "bool"}
_KINDS = {
    "f": ("biuf", "numbers"),
    "i": ("iu", "whole numbers"),
    "u": ("iu", "whole numbers"),
    "b": ("biu", "switches"),
}
"""Permitted conversions of arrays, by the ``dtype.kind`` letter (of NumPy) that a field requires.

Each value has two items: the ``dtype.kind`` letters of the arrays that may be converted, and the word for an array's
elements in messages.
"""

_hints = functools.cache(get_type_hints)


def coerce(owner: Any, error: type[SinewError], label: str) -> None:
    """Check the fields of a dataclass object against their annotations, and convert the values in place.

    Raises ``error`` for a value of the wrong type, with a message that begins with ``label``.
    """
    kinds = _hints(type(owner))
    for item in fields(owner):
        spec, value = spec_of(item), getattr(owner, item.name)
        found = declared(value, kinds[item.name], error, f"{label}: {item.name.replace('_', ' ')}", spec.dtype)
        found = collapse_constant(found) if spec.once and isinstance(found, np.ndarray) else found
        if found is not value:
            object.__setattr__(owner, item.name, found)


def checked(error: type[SinewError]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator that checks a function's arguments against their annotations and converts them.

    A call with an argument of the wrong type raises ``error``.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def checking(*args: P.args, **keywords: P.kwargs) -> R:
            bound, kinds = signature.bind(*args, **keywords), _hints(function)
            for name, value in bound.arguments.items():
                named = signature.parameters[name].kind is not inspect.Parameter.VAR_KEYWORD
                if named and name in kinds:
                    bound.arguments[name] = declared(value, kinds[name], error, f"{function.__name__}: {name}")
            return function(*bound.args, **bound.kwargs)

        return checking

    return decorate


def declared(value: Any, kind: Any, error: type[SinewError], label: str, dtype: Any = None) -> Any:
    """Return a value converted to the annotated type ``kind``.

    ``dtype``: element type of arrays.

    Raises ``error`` for a value of another type, with a message that begins with ``label``.
    """
    choices = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    if value is None and NoneType in choices:
        return None
    choices = tuple(choice for choice in choices if choice is not NoneType)
    if len(choices) > 1:
        if not isinstance(value, tuple(get_origin(choice) or choice for choice in choices)):
            raise _refused(value, _words(kind), error, label)
        if isinstance(value, (str, os.PathLike)) and "\0" in os.fspath(value):
            raise error(f"{label} has a zero byte.", "Give the path of a file.")
        return value
    (kind,) = choices
    if kind in _PLAIN:
        return typed(value, _PLAIN[kind], error, label)
    if kind is np.ndarray:
        return array_of(value, error, label, dtype)
    if get_origin(kind) is tuple and get_args(kind)[-1] is Ellipsis:
        return _items(value, get_args(kind)[0], error, label)
    if get_origin(kind) is Callable:
        kind = Callable
    if kind is Any or not (is_dataclass(kind) or kind is Callable):
        return value
    if not isinstance(value, kind):
        raise _refused(value, _words(kind), error, label)
    return value


def array_of(value: Any, error: type[SinewError], label: str, dtype: Any = None) -> np.ndarray:
    """Return a value as a contiguous array of ``dtype``, or of the value's own numeric type if ``dtype`` is None.

    Raises ``error``, with a message that begins with ``label``, in three cases: the value is not an array of numbers
    (for example, text), the numbers are fractions where integers are required, or an integer is outside the range of
    ``dtype``.
    """
    accepted, word = _KINDS[np.dtype(dtype or float).kind]
    try:
        array = np.asarray(value)
    except (ValueError, TypeError, OverflowError) as ragged:
        raise error(f"{label} is not an array: {ragged}.", f"Give an array of {word}.") from ragged
    if value is None or array.dtype.kind not in (accepted if array.size else "biuf"):
        raise _refused(value, f"an array of {word}", error, label)
    if dtype is not None and array.dtype != dtype and array.size and np.dtype(dtype).kind in "iu":
        limits = np.iinfo(dtype)
        if array.min() < limits.min or array.max() > limits.max:
            raise error(f"{label} has a number outside {limits.min} to {limits.max}.", "Give numbers in that range.")
    return np.ascontiguousarray(array, dtype=dtype)


def _items(value: Any, kind: Any, error: type[SinewError], label: str) -> tuple[Any, ...]:
    """Return the items of a list as a tuple of values of the type ``kind``."""
    one = kind if get_origin(kind) is UnionType or is_dataclass(kind) else ()
    if one and isinstance(value, one):
        value = (value,)
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise _refused(value, f"a list of {_words(kind)}", error, label)
    found = tuple(declared(each, kind, error, f"{label} {k + 1}") for k, each in enumerate(value))
    same = isinstance(value, tuple) and all(a is b for a, b in zip(value, found))
    return value if same else found


def _refused(value: Any, word: str, error: type[SinewError], label: str) -> SinewError:
    return error(f"{label} is {shown(value)}, not {word}.", f"Give {word}.")


def _words(kind: Any) -> str:
    if get_args(kind) and get_origin(kind) is not Callable:
        return " or ".join(_words(each) for each in get_args(kind) if each is not NoneType)
    plain = {
        "str": "a text",
        "int": "a whole number",
        "Path": "a path",
        "Callable": "a function",
        "ndarray": "an array",
    }
    name = getattr(kind, "__name__", None) or "Callable"
    return plain.get(name, f"a {name.removesuffix('Settings').replace('SurfaceMesh', 'Surface')}")
