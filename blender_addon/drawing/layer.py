"""Base class of draw handlers in the 3D Views, and a class for a cached value."""

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
    """Draw handler in all 3D Views, active until :meth:`remove`. A draw callback that raises an error is not called
    again, since the error would be printed at each redraw. :meth:`refuse` gets the reason: the message ``FAILED`` or,
    for a PreviewError, the message of the error.
    """

    FAILED = "The overlay cannot be drawn ({error})."

    def __init__(self) -> None:
        self._refused: list[Callable[[Any], None]] = []
        stages = (("POST_VIEW", self.draw_view), ("POST_PIXEL", self.draw_over))
        self._handlers = [add_handler(self.draw, (drawing,), "WINDOW", kind) for kind, drawing in stages]

    def draw_view(self, context: Any) -> None:
        """Draw in world space; called at each redraw of a 3D View."""

    def draw_over(self, context: Any) -> None:
        """Draw in pixels of the region, over the scene; called at each redraw of a 3D View."""

    def refuse(self, reason: str, drawing: Callable[[Any], None]) -> None:
        """Print the reason why the draw callback ``drawing`` failed, and stop calling it."""
        print(f"sinew: {reason}", file=sys.stderr)
        self._refused.append(drawing)

    def draw(self, drawing: Callable[[Any], None]) -> None:
        """Call a draw callback, and stop it at the first error; called by Blender."""
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
    """Cache of one ``value``, which is computed when it is first needed and again when its key has changed."""

    value: Result | None = None
    _made_for: Any = object()  # unequal to any key

    def get(self, made_for: Any, make: Callable[[], Result]) -> Result:
        """Return the cached value if its key is ``made_for``, else compute and cache ``make()``."""
        if self._made_for != made_for:
            self.value = make()
            self._made_for = made_for
        return self.value
