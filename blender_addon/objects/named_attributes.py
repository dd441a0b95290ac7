"""Named attributes that replace vertex groups, and the search of both in text fields."""

from __future__ import annotations

from typing import Any

import numpy as np

WEIGHT_KINDS = {"FLOAT": np.float32, "BOOLEAN": bool}
"""Types of attributes that replace vertex groups, with the types of their values."""
OWN = "sinew"
"""Prefix of the names, in lower case, of attributes that Sinew stores."""


def weight_attributes(obj: Any, context: Any) -> list[str]:
    """Return the names of the attributes that can replace vertex groups of a mesh object, sorted.

    Attributes that modifiers create are included.
    """
    evaluated = obj.evaluated_get(context.evaluated_depsgraph_get())
    found = {each.name for mesh in (obj.data, evaluated.data) for each in mesh.attributes if _is_weight(each)}
    return sorted(found - set(obj.vertex_groups.keys()))


def _is_weight(attribute: Any) -> bool:
    is_visible = not attribute.is_internal and not attribute.name.startswith(".")
    is_own = attribute.name.lower().startswith(OWN)
    return is_visible and not is_own and attribute.domain == "POINT" and attribute.data_type in WEIGHT_KINDS


def search_weights(owner: Any, context: Any, text: str) -> list[str]:
    """Return the vertex groups of the object of ``owner``, then its attributes, whose names contain ``text``.

    This is a search callback of text properties.
    """
    obj = owner.id_data
    names = [*obj.vertex_groups.keys(), *weight_attributes(obj, context)]
    return [name for name in names if text.lower() in name.lower()]
