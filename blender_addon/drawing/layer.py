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
    """Draw handlers of every 3D View until :meth:`remove`. An unexpected ``{error}`` is shown once by ``FAILED``; if
    raised, it would be printed at each redraw.
    """

    FAILED = "It cannot be drawn ({error})."

    def __init__(self) -> None:
        self._refused: list[Callable[[Any], None]] = []
        ways = (("POST_VIEW", self.draw_view), ("POST_PIXEL", self.draw_over))
        self._handlers = [add_handler(self.draw, (way,), "WINDOW", kind) for kind, way in ways]

    def draw_view(self, context: Any) -> None:
        """Draw into the scene (POST_VIEW)."""

    def draw_over(self, context: Any) -> None:
        """Draw over the scene in pixels of the region (POST_PIXEL)."""

    def refuse(self, reason: str, way: Callable[[Any], None]) -> None:
        """Stop calling the draw callback ``way`` that failed; ``reason`` is for subclasses that show it."""
        self._refused.append(way)

    def draw(self, way: Callable[[Any], None]) -> None:
        """Run a draw callback. Called by Blender."""
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
        """Remove the draw handlers."""
        while self._handlers:
            remove_handler(self._handlers.pop(), "WINDOW")


class Made(Generic[Result]):
    """Lazily computed ``value``, recomputed when its key changes."""

    value: Result | None = None
    _made_for: Any = object()  # equal to no key

    def get(self, made_for: Any, make: Callable[[], Result]) -> Result:
        """Return the cached value for this key, else that of ``make()``."""
        if self._made_for != made_for:
            self.value = make()
            self._made_for = made_for
        return self.value
