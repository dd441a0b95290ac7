"""Temporary scenes, which no window shows."""

from __future__ import annotations

from typing import Any

import bpy


def remove_scene(scene: Any) -> None:
    """Remove a scene that no window shows.

    ``bpy.data.scenes.remove`` crashes where Blender's context has no window, such as in a command after
    ``blender -b scene.blend`` and in timers.
    """
    bpy.data.batch_remove([scene])
