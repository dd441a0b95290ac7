"""Base class of draw handlers in the 3D Views, and a cache of one value."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import bpy

from ...core.foundation.errors import PreviewError

Result = TypeVar("Result")

add_handler, remove_handler = bpy.types.SpaceView3D.draw_handler_add, bpy.types.SpaceView3D.draw_handler_remove


class Layer:
    """Draw handler in all 3D Views, active until :meth:`remove`.

    A draw callback that raises an error is not called again, since the error would be printed at each redraw.
    :meth:`refuse` gets the message of a PreviewError, or the message ``FAILED`` for any other error.
    """

    FAILED = "The overlay cannot be drawn ({error})."

    def __init__(self) -> None:
        self._refused: list[Callable[[Any], None]] = []
        stages = (("POST_VIEW", self.draw_view), ("POST_PIXEL", self.draw_over))
        self._handlers = [add_handler(self.draw, (drawing,), "WINDOW", kind) for kind, drawing in stages]

    def draw_view(self, context: Any) -> None:
        """Draw in world space. Blender calls this method at each redraw of a 3D View."""

    def draw_over(self, context: Any) -> None:
        """Draw in pixels of the region, over the scene. Blender calls this method at each redraw of a 3D View."""

    def refuse(self, reason: str, drawing: Callable[[Any], None]) -> None:
        """Print the reason why a draw callback failed, and stop calling the callback."""
        print(f"sinew: {reason}", file=sys.stderr)
        self._refused.append(drawing)

    def draw(self, drawing: Callable[[Any], None]) -> None:
        """Call a draw callback, and stop the callback at the first error."""
        if drawing in self._refused:
            return
        try:
            drawing(bpy.context)
        except PreviewError as error:
            self.refuse(str(error), drawing)
        except Exception as error:  # noqa: BLE001 - see the class
            traceback.print_exc()
            self.refuse(self.FAILED.format(error=error), drawing)

    def remove(self) -> None:
        """Stop drawing."""
        while self._handlers:
            remove_handler(self._handlers.pop(), "WINDOW")


class Made(Generic[Result]):
    """Cache of one ``value`` with a key. The value is computed again when the key has changed."""

    value: Result | None = None
    _made_for: Any = object()  # unequal to any key

    def get(self, made_for: Any, make: Callable[[], Result]) -> Result:
        """Return the cached value for the key ``made_for``.

        If the cached value has another key, ``make()`` computes the value.
        """
        if self._made_for != made_for:
            self.value = make()
            self._made_for = made_for
        return self.value
