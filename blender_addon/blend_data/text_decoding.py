"""Reset of text properties that are not valid UTF-8, as a damaged or untrusted .blend may contain: Blender raises an
error when it reads them.
"""

from __future__ import annotations

from typing import Any

import bpy


def text_of(group: Any, name: str) -> str:
    """Return a text of a property group; reset it and return "" if it cannot be decoded."""
    try:
        return getattr(group, name)
    except UnicodeDecodeError:
        group.property_unset(name)
        return ""


def mend_texts(group: Any) -> None:
    """Reset all texts that are not valid UTF-8 in a property group, and in the groups and collections within it."""
    for prop in group.bl_rna.properties:
        name = prop.identifier
        if prop.type == "STRING" and not prop.is_readonly:  # computed texts are read-only
            text_of(group, name)
        elif prop.type == "COLLECTION":
            for item in getattr(group, name):
                mend_texts(item)
        elif prop.type == "POINTER" and name != "rna_type":
            if isinstance(inner := getattr(group, name), bpy.types.PropertyGroup):
                mend_texts(inner)
