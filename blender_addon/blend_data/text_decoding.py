"""Reset of text properties that are not valid UTF-8. Blender raises an error when it reads such a text.

A damaged or untrusted .blend may contain such texts.
"""

from __future__ import annotations

from typing import Any

import bpy


def text_of(group: Any, name: str) -> str:
    """Return a text of a property group. A text that cannot be decoded is reset, and "" is returned."""
    try:
        return getattr(group, name)
    except UnicodeDecodeError:
        group.property_unset(name)
        return ""


def mend_texts(group: Any) -> None:
    """Reset the texts of a property group that are not valid UTF-8. Groups within the group are included."""
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
