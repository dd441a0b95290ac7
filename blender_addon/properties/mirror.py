"""Blender's properties made from the fields of the library's settings, and what is meant by their 32-bit numbers.

No ``from __future__ import annotations`` in files that call these: Blender reads the annotations as values.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any

import bpy

from .choices import number_of


def clean(value: float) -> float:
    """The decimal number that was meant by a 32-bit one: six significant digits."""
    return float(f"{value:.6g}")


def stiffness_of(log_stiffness: float) -> float:
    """Pascals of a kept logarithm: five significant digits, which is what a 32-bit logarithm carries."""
    return float(f"{10.0**log_stiffness:.5g}")


def field_of(settings: type, name: str) -> dataclasses.Field:
    """A field of a settings' class."""
    return next(f for f in dataclasses.fields(settings) if f.name == name)


OVERRIDABLE = {"LIBRARY_OVERRIDABLE"}


def plain(make: Any, name: str, description: str, **options: Any) -> Any:
    """A property that is not animated, unless ``options`` say so; a library override can have its own value."""
    override = {"LIBRARY_OVERRIDABLE", "USE_INSERTION"} if make is bpy.props.CollectionProperty else OVERRIDABLE
    kept = {} if "get" in options and "set" not in options else {"override": override}
    return make(name=name, description=description, **{"options": set(), **kept, **options})


ANIMATED = {"ANIMATABLE"}
switch, text, integer, number, vector, menu, pointer, collection = (
    partial(plain, getattr(bpy.props, f"{kind}Property"))
    for kind in ("Bool", "String", "Int", "Float", "FloatVector", "Enum", "Pointer", "Collection")
)
"""Properties by their label and what to say of them."""
_KINDS = {bool: switch, int: integer, float: number, str: menu}


def mirrored(settings: type, name: str, label: str = "", **options: Any) -> Any:
    """A property of a field's own kind, with its range, default and help; its unit stands behind the label, which is
    the field's name unless another is given. ``items`` of a menu may be a callback of :mod:`choices`. What may be None
    is given a default.

    Properties of ``unit="LENGTH"`` are in Blender's units, which show their own unit.
    """
    field = field_of(settings, name)
    low, high = field.metadata.get("range", (None, None))
    unit = field.metadata.get("unit") if options.get("unit") != "LENGTH" else ""
    bounds = {word: bound for word, bound in (("min", low), ("max", high)) if bound is not None}
    own = options.get("default", field.default)
    default = number_of(own) if callable(options.get("items")) else own
    label = label or name.replace("_", " ").title()
    words = f"{label} ({unit})" if unit else label
    return _KINDS[type(own)](words, field.metadata["help"], **{**bounds, **options, "default": default})
