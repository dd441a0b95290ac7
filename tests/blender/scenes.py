"""What several tests put into a scene."""

from __future__ import annotations

from typing import Any

CUBE = (
    [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)],
    [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)],
)
"""Vertices and outward faces of the unit cube."""


def keyed(owner: Any, name: str, *keys: tuple[int, Any]) -> None:
    """Key a property at frames: pairs of a frame and its value."""
    for frame, value in keys:
        setattr(owner, name, value)
        owner.keyframe_insert(name, frame=frame)
