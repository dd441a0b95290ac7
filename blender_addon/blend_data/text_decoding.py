"""Texts of a .blend that are none: a damaged file's, or a stranger's, may hold bytes that Blender cannot hand over, and
says so with an error whenever they are read.
"""

from __future__ import annotations

from typing import Any

import bpy


def text_of(group: Any, name: str) -> str:
    """A text of a property group; "" where it is none, which is forgotten then."""
    try:
        return getattr(group, name)
    except UnicodeDecodeError:
        group.property_unset(name)
        return ""


def mend_texts(group: Any) -> None:
    """Forget what is no text in a property group, and in groups and lists within it."""
    for prop in group.bl_rna.properties:
        name = prop.identifier
        if prop.type == "STRING" and not prop.is_readonly:  # what is computed is read-only
            text_of(group, name)
        elif prop.type == "COLLECTION":
            for item in getattr(group, name):
                mend_texts(item)
        elif prop.type == "POINTER" and name != "rna_type":
            if isinstance(inner := getattr(group, name), bpy.types.PropertyGroup):
                mend_texts(inner)
