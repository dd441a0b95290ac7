"""Which objects can stand in a body's way."""

from __future__ import annotations

from typing import Any

SOLID = frozenset({"MESH", "CURVE", "SURFACE", "META", "FONT"})
"""Kinds of objects that Blender makes meshes of."""


def shows_collection(obj: Any) -> bool:
    """Return True if an object is an instance of a collection."""
    return obj.instance_type == "COLLECTION" and obj.instance_collection is not None


def can_collide(obj: Any) -> bool:
    """Return True if there is something of an object to run into."""
    return obj.type in SOLID or shows_collection(obj)
