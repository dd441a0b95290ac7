"""Base class of draw handlers in the 3D Views, and their caches."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import bpy

from ...core.foundation.errors import PreviewError

Result = TypeVar("Result")

add_handler, remove_handler = bpy.types.SpaceView3D.draw_handler_add, bpy.types.SpaceView3D.draw_handler_remove


class Layer:
    """Draws into every 3D View until :meth:`remove`; ``FAILED`` says so of an ``{error}`` that nobody foresaw. Let out,
    it would be printed at each redraw.
    """

    FAILED = "It cannot be drawn ({error})."

    def __init__(self) -> None:
        self._refused: list[Callable[[Any], None]] = []
        ways = (("POST_VIEW", self.draw_view), ("POST_PIXEL", self.draw_over))
        self._handlers = [add_handler(self.draw, (way,), "WINDOW", kind) for kind, way in ways]

    def draw_view(self, context: Any) -> None:
        """Into the scene."""

    def draw_over(self, context: Any) -> None:
        """Over it, in pixels of the region."""

    def refuse(self, reason: str, way: Callable[[Any], None]) -> None:
        """It could not be drawn one of these ways, and why: it is drawn so no more."""
        self._refused.append(way)

    def draw(self, way: Callable[[Any], None]) -> None:
        """Callback for Blender."""
        if way in self._refused:
            return
        try:
            way(bpy.context)
        except PreviewError as error:
            self.refuse(str(error), way)
        except Exception as error:  # noqa: BLE001 - see above
            traceback.print_exc()
            self.refuse(self.FAILED.format(error=error), way)

    def remove(self) -> None:
        """Draw no more."""
        while self._handlers:
            remove_handler(self._handlers.pop(), "WINDOW")


class Made(Generic[Result]):
    """Something that is made when it is asked for, and again when what it was made for has changed; its ``value``."""

    value: Result | None = None
    _made_for: Any = object()  # nothing else is equal to it

    def get(self, made_for: Any, make: Callable[[], Result]) -> Result:
        """Return the value that ``make()`` returned for this key."""
        if self._made_for != made_for:
            self.value = make()
            self._made_for = made_for
        return self.value
