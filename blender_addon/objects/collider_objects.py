"""Objects that can be colliders."""

from __future__ import annotations

from typing import Any

SOLID = frozenset({"MESH", "CURVE", "SURFACE", "META", "FONT"})
"""Object types that Blender converts to meshes."""


def shows_collection(obj: Any) -> bool:
    """Return True if an object is an instance of a collection."""
    return obj.instance_type == "COLLECTION" and obj.instance_collection is not None


def can_collide(obj: Any) -> bool:
    """Return True if an object can be a collider."""
    return obj.type in SOLID or shows_collection(obj)
