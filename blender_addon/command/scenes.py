"""Choice of the scene that a command works in."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import bpy

from ...core.foundation.errors import StoreError
from ..objects.linked import own_bodies
from .console import ConsoleReporter


@contextmanager
def in_scene(options: argparse.Namespace, tell: ConsoleReporter) -> Iterator[Any]:
    """Make the scene chosen by ``options`` active within the context. Yields the scene that was active before.

    Without a choice the active scene stays, and a warning names bodies that are only in other scenes. Raises StoreError
    if the chosen scene does not exist.
    """
    with _window():
        before = bpy.context.scene
        scene = _scene_of(options, before)
        if scene == before and not options.scene:
            _warn_of_others(scene, tell)
        with active(scene):
            yield before


def _window() -> AbstractContextManager[Any]:
    """Return a context in which Blender's context has a window.

    A command has none after ``blender -b scene.blend``. Without one, the active scene cannot be changed, and operators
    such as Blender's exporters fail.
    """
    if bpy.context.window is not None:
        return nullcontext()
    return bpy.context.temp_override(window=bpy.context.window_manager.windows[0])


@contextmanager
def active(scene: Any) -> Iterator[None]:
    """Make a scene active within the context, so that Blender evaluates its animation.

    A .blend saved within the context opens in this scene.
    """
    before = bpy.context.scene
    if scene == before:  # assigning even the same scene would mark the .blend as edited
        yield
        return
    window = bpy.context.window
    window.scene = scene
    try:
        yield
    finally:
        window.scene = before


def _scene_of(options: argparse.Namespace, present: Any) -> Any:
    """Return the scene named by ``--scene``, or else a scene with the object named by ``--object``."""
    name, named = options.scene, getattr(options, "object", None)
    if name:
        scene = bpy.data.scenes.get(name)
        if scene is None:
            names = ", ".join(each.name for each in bpy.data.scenes)
            raise StoreError(f"The .blend has no scene “{name}”.", f"It has {names}.")
        return scene
    having = [each for each in bpy.data.scenes if named in each.objects] if named else []
    if present in having or not having:
        return present
    if len(having) > 1:
        names = ", ".join(each.name for each in having)
        raise StoreError(f"“{named}” is in several scenes.", f"Name one with --scene: {names}.")
    return having[0]


def _warn_of_others(scene: Any, tell: ConsoleReporter) -> None:
    """Warn about bodies that are only in other scenes."""
    here = own_bodies(scene)
    for other in bpy.data.scenes:
        left_out = [body.name for body in own_bodies(other) if body not in here]
        if left_out:
            message = f"Bodies of the scene “{other.name}” are left out: {', '.join(left_out)}."
            tell.warn("", f'{message} Run the command again with --scene "{other.name}" for them.')
