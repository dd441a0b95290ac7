"""Operators of Blender that let a window show another scene, such as the exporter of glTF."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any


@contextmanager
def kept_scene(context: Any) -> Iterator[None]:
    """Give Blender's context a window, which shows its own scene and view layer again at the end.

    Its 3D Views look through their cameras again: Blender leaves camera views in scenes that do not have the camera.
    """
    window = context.window or context.window_manager.windows[0]
    scene, layer = window.scene, window.view_layer
    views = [_View(space) for each in context.window_manager.windows for space in _view_spaces(each)]
    try:
        with context.temp_override(window=window):
            yield
    finally:
        if window.scene != scene:
            window.scene, window.view_layer = scene, layer
            for view in views:
                view.restore()


def _view_spaces(window: Any) -> Iterator[Any]:
    return (space for area in window.screen.areas for space in area.spaces if space.type == "VIEW_3D")


class _View:
    """Camera and perspective of a 3D View."""

    def __init__(self, space: Any) -> None:
        self._space, self._camera = space, space.camera
        regions = [space.region_3d, *space.region_quadviews]
        self._perspectives = [(region, region.view_perspective) for region in regions if region is not None]

    def restore(self) -> None:
        with suppress(ReferenceError):  # the camera was deleted meanwhile
            if self._space.camera != self._camera:
                self._space.camera = self._camera
        for region, perspective in self._perspectives:
            if region.view_perspective != perspective:
                region.view_perspective = perspective
