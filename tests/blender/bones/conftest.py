"""Armatures with bone bodies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import pytest

from ..scenes import add_armature


@pytest.fixture
def arm(saved: Any) -> Any:
    """An armature of two connected bones along x, active, that bends about its bones' z."""
    return add_armature(
        {"Upper": ((0.0, 0.0, 2.0), (1.0, 0.0, 2.0), None), "Lower": ((1.0, 0.0, 2.0), (2.0, 0.0, 2.0), "Upper")}
    )


@pytest.fixture
def ragdoll(arm: Any) -> Callable[..., dict[str, Any]]:
    """Give the armature bodies that are baked over some frames; they by the names of their bones."""

    def add(frames: int = 8, **settings: Any) -> dict[str, Any]:
        assert bpy.ops.sinew.add_bone_bodies() == {"FINISHED"}
        bodies = {each.parent_bone: each for each in arm.children}
        for each in bodies.values():
            each.sinew.use_scene_range, each.sinew.frame_end = False, frames
            for name, value in settings.items():
                setattr(each.sinew, name, value)
        bpy.context.view_layer.objects.active = bodies["Upper"]
        return bodies

    return add
