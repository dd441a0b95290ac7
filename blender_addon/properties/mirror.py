"""Constructors of Blender properties, some from the library's settings classes, and rounding of 32-bit values.

Files that call these functions must not have ``from __future__ import annotations``: Blender reads the annotations as
values.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any

import bpy

from ..objects.named_attributes import search_weights
from ..translations.translate import CONTEXT
from .choices import number_of


def clean(value: float) -> float:
    """Return a 32-bit float rounded to six significant digits, the decimal number that the user entered."""
    return float(f"{value:.6g}")


def stiffness_of(log_stiffness: float) -> float:
    """Return the stiffness, Pa, whose base-10 logarithm is ``log_stiffness``.

    The stiffness is rounded to five significant digits, the precision of a 32-bit logarithm.
    """
    return float(f"{10.0**log_stiffness:.5g}")


def field_of(settings: type, name: str) -> dataclasses.Field:
    """Return a field of a dataclass by name."""
    return next(f for f in dataclasses.fields(settings) if f.name == name)


OVERRIDABLE = {"LIBRARY_OVERRIDABLE"}


def plain(make: Any, name: str, description: str, **options: Any) -> Any:
    """Return a Blender property made by the constructor ``make``. By default the property cannot be animated.

    Library overrides can change the property unless it is read-only.
    """
    override = {"LIBRARY_OVERRIDABLE", "USE_INSERTION"} if make is bpy.props.CollectionProperty else OVERRIDABLE
    kept = {} if "get" in options and "set" not in options else {"override": override}
    return make(
        name=name, description=description, translation_context=CONTEXT, **{"options": set(), **kept, **options}
    )


ANIMATED = {"ANIMATABLE"}
switch, text, integer, number, vector, menu, pointer, collection = (
    partial(plain, getattr(bpy.props, f"{kind}Property"))
    for kind in ("Bool", "String", "Int", "Float", "FloatVector", "Enum", "Pointer", "Collection")
)
"""Property constructors, which take a label and a description."""
weights = partial(text, search=search_weights)
"""Constructor of a text property with the name of a vertex group, or of an attribute that replaces it."""
LONG_LABEL = 11
"""Largest number of characters of a label to which a unit is appended."""
_KINDS = {bool: switch, int: integer, float: number, str: menu}


def mirrored(settings: type, name: str, label: str = "", **options: Any) -> Any:
    """Return a Blender property that mirrors the field ``name`` of ``settings``: type, range, default and help.

    The default ``label`` is the field's name. The field's unit is appended, unless the label is longer than
    ``LONG_LABEL`` characters: a panel would cut it off. ``options`` are keyword arguments of the property's
    constructor. ``unit="LENGTH"`` leaves the unit out of the label, since Blender displays the unit with the value.
    ``items`` may be a callback of :mod:`choices` that returns enum items. ``default`` is required if the field's
    default is None.
    """
    field = field_of(settings, name)
    low, high = field.metadata.get("range", (None, None))
    unit = field.metadata.get("unit") if options.get("unit") != "LENGTH" else ""
    bounds = {word: bound for word, bound in (("min", low), ("max", high)) if bound is not None}
    own = options.get("default", field.default)
    default = number_of(own) if callable(options.get("items")) else own
    label = label or name.replace("_", " ").title()
    words = f"{label} ({unit})" if unit and len(label) <= LONG_LABEL else label
    if unit == "m/s":
        options.setdefault("precision", 4)  # speeds of slow creeping, which two digits would show as 0
    return _KINDS[type(own)](words, field.metadata["help"], **{**bounds, **options, "default": default})
