"""Blender's properties made from the fields of the library's settings, and what is meant by their 32-bit numbers.

No ``from __future__ import annotations`` in files that call these: Blender reads the annotations as values.
"""

from __future__ import annotations

import dataclasses
from typing import Any


def clean(value: float) -> float:
    """The decimal number that was meant by a 32-bit one: six significant digits."""
    return float(f"{value:.6g}")


def stiffness_of(log_stiffness: float) -> float:
    """Pascals of a kept logarithm: five significant digits, which is what a 32-bit logarithm carries."""
    return float(f"{10.0**log_stiffness:.5g}")


def field_of(settings: type, name: str) -> dataclasses.Field:
    """A field of a settings' class."""
    return next(f for f in dataclasses.fields(settings) if f.name == name)


def numeric(make: Any, settings: type, name: str, label: str, **options: Any) -> Any:
    """A FloatProperty or IntProperty with a field's range, default and help; its unit stands behind the label.

    Properties of ``unit="LENGTH"`` are in Blender's units, which show their own unit.
    """
    field = field_of(settings, name)
    low, high = field.metadata["range"]
    unit = f" ({field.metadata['unit']})" if field.metadata["unit"] and options.get("unit") != "LENGTH" else ""
    bounds = {word: bound for word, bound in (("min", low), ("max", high)) if bound is not None}
    about = {"name": label + unit, "description": field.metadata["help"], "default": field.default, "options": set()}
    return make(**{**about, **bounds, **options})


def choice(settings: type, name: str, label: str, labels: dict[str, tuple[str, str]]) -> dict[str, Any]:
    """Arguments of an EnumProperty over ``labels`` (name -> label, description), with a field's help and default."""
    field = field_of(settings, name)
    items = [(key, *words) for key, words in labels.items()]
    return {
        "name": label,
        "description": field.metadata["help"],
        "items": items,
        "default": field.default,
        "options": set(),
    }
