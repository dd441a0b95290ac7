"""Fields of settings with their valid values, units and descriptions.

The metadata of a field contain ``range=(low, high)``, with both ends included and None for no bound; ``unit``; and the
description ``help``.
"""

from __future__ import annotations

import math
import numbers
from dataclasses import field, fields
from typing import Any

import numpy as np

from ..errors import SinewError
from .field_metadata import FieldSpec

LONGEST = 80
"""Maximum number of characters of a value in a message."""


def number(
    default: float | None,
    low: float | None,
    high: float | None,
    unit: str,
    help: str,
    label: str | None = None,
    is_advanced: bool = False,
) -> Any:
    """Return a dataclass field for a number from ``low`` to ``high``.

    Both bounds are included; None means no bound. ``help`` is the description of the field, ``label`` its user-visible
    name. ``is_advanced``: True if user interfaces show the field separately.
    """
    metadata = {"range": (low, high), "unit": unit, "help": help, "about": FieldSpec(label), "is_advanced": is_advanced}
    return field(default=default, metadata=metadata)


def choice(
    default: str | bool, help: str, is_advanced: bool = False, names: tuple[str, ...] = (), **options: Any
) -> Any:
    """Return a dataclass field for a switch or for a choice among names.

    The field is a switch if ``default`` is a bool.
    ``names``: permitted names; if empty, a registry defines them.
    ``help``: description of the field.
    ``is_advanced``: True if user interfaces show the field separately.
    ``options``: attributes of the field's :class:`FieldSpec`.
    """
    metadata = {"help": help, "about": FieldSpec(**options), "is_advanced": is_advanced, "names": names}
    return field(default=default, metadata=metadata)


_TYPES: dict[str, tuple[type, type, str]] = {
    "int": (numbers.Integral, int, "a whole number"),
    "float": (numbers.Real, float, "a number"),
    "str": (str, str, "a text"),
    "bool": (bool, bool, "true or false"),
}


def typed(value: Any, kind: str, error: type[SinewError], label: str) -> Any:
    """Return a value as a plain Python value of the type named ``kind``: int, float, str or bool.

    Raises ``error`` for a value of another type, with a message that begins with ``label``.
    """
    accepted, plain, word = _TYPES[kind]
    if not isinstance(value, accepted) or (isinstance(value, bool) and plain is not bool):
        raise error(f"{label} is {shown(value)}, not {word}.", f"Enter {word}.")
    if plain is int and abs(value) >= 2**63:
        raise error(f"{label} is too large.", "Enter a smaller number.")
    try:
        return plain(value)
    except OverflowError as overflow:
        raise error(f"{label} is too large.", "Enter a finite number.") from overflow


def shown(value: Any) -> str:
    """Return a value of any type as text for a message."""
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype}, shape {value.shape}"
    try:
        text = repr(value)
    except ValueError:  # integers with thousands of digits
        return f"a {type(value).__name__}"
    return " ".join(text.split())[:LONGEST]


def words_of(name: Any) -> str:
    """Return a name as text for a message, also if the unchecked name is not text."""
    return name if isinstance(name, str) else shown(name)


def check_ranges(settings: Any, error: type[SinewError], owner: str) -> None:
    """Check the types, ranges and permitted names of all fields of ``settings``.

    Numbers are converted to plain Python numbers in place. Raises ``error`` for an invalid field, with a message that
    begins with the text ``owner``.
    """
    for item in fields(settings):
        label = f"{owner}: {item.name.replace('_', ' ')}"
        value = getattr(settings, item.name)
        kind = str(item.type).removesuffix(" | None")
        if kind in _TYPES and (value is not None or kind == item.type):
            value = typed(value, kind, error, label)
            object.__setattr__(settings, item.name, value)
        names = item.metadata.get("names")
        if names and value not in names:
            unknown = f"{owner}: unknown {item.name.replace('_', ' ')} “{value}”."
            raise error(unknown, f"Choose one of {', '.join(names)}.")
        if "range" not in item.metadata or value is None:
            continue
        low, high = item.metadata["range"]
        if isinstance(value, float) and not math.isfinite(value):
            raise error(f"{label} is {value}.", "Enter a finite number.")
        if (low is not None and value < low) or (high is not None and value > high):
            bounds = " and ".join(
                f"{word} {bound:g}" for word, bound in (("at least", low), ("at most", high)) if bound is not None
            )
            unit = f" {item.metadata['unit']}" if item.metadata["unit"] else ""
            there = f"{value:g}" if isinstance(value, float) else str(value)
            raise error(f"{label} is {there}{unit}.", f"Set it to {bounds}{unit}.")
